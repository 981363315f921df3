package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarndb/tarn/internal/errs"
)

// place writes files below a folder; "home" and "work" are the two folders of a Request.
func place(t *testing.T, files map[string]string) Request {
	t.Helper()
	root := t.TempDir()
	req := Request{Dir: filepath.Join(root, "work"), Home: filepath.Join(root, "home")}
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return req
}

// dump renders a configuration one value a line, with origins.
func dump(c *Config, req Request) string {
	var b strings.Builder
	fmt.Fprintf(&b, "default %s (%s)\n", c.Default.Text, c.Default.Origin)
	for _, cat := range c.Catalogs {
		for _, key := range cat.Keys() {
			fmt.Fprintf(&b, "%s.%s = %s (%s)\n", cat.Name, key, cat.Get(key), cat.Values[key].Origin)
		}
	}
	for _, n := range c.Notices {
		fmt.Fprintln(&b, "notice:", n)
	}
	return strings.ReplaceAll(b.String(), filepath.ToSlash(filepath.Dir(req.Dir)), "ROOT")
}

const twoCatalogs = `catalog:
  default: {type: rest, uri: https://example.org, warehouse: w, credential: "${env:CRED}"}
  files:
    type: hadoop
    warehouse: file:///data/warehouse
    s3:
      endpoint: http://localhost:9000
`

func TestLoad(t *testing.T) {
	one := func(name string) string { return "catalog: {" + name + ": {uri: 'sqlite:////x'}}\n" }
	for name, c := range map[string]struct {
		files map[string]string
		edit  func(*Request)
		want  string
	}{
		"nothing configured": {want: `default lake (default)
lake.type = sql (default)
lake.uri = sqlite:///ROOT/work/tarn-lake/catalog.db (default)
lake.warehouse = file://ROOT/work/tarn-lake/warehouse (default)
`},
		"a file, with a variable and a group": {
			files: map[string]string{"work/tarn.yaml": twoCatalogs},
			edit:  func(r *Request) { r.Environ = []string{"CRED=a:b"} },
			want: `default default (default)
default.type = rest (tarn.yaml:2)
default.uri = https://example.org (tarn.yaml:2)
default.warehouse = w (tarn.yaml:2)
default.credential = a:b (tarn.yaml:2)
files.type = hadoop (tarn.yaml:4)
files.warehouse = file:///data/warehouse (tarn.yaml:5)
files.s3.endpoint = http://localhost:9000 (tarn.yaml:7)
`},
		"a variable that only another catalog needs": {
			files: map[string]string{"work/tarn.yaml": twoCatalogs},
			edit:  func(r *Request) { r.Catalog = "files" },
			want: `default files (--catalog)
files.type = hadoop (tarn.yaml:4)
files.warehouse = file:///data/warehouse (tarn.yaml:5)
files.s3.endpoint = http://localhost:9000 (tarn.yaml:7)
notice: catalog default is left out: read configuration tarn.yaml:2: the environment variable CRED is not set
`},
		"tarn.yaml stands before all others": {
			files: map[string]string{
				"work/tarn.yaml": one("a"), "home/.config/tarn/tarn.yaml": one("b"), "work/.pyiceberg.yaml": one("c"),
			},
			want: "default a (the only catalog)\na.type = sql (inferred from uri)\na.uri = sqlite:////x (tarn.yaml:1)\n",
		},
		"then the user's own": {
			files: map[string]string{"home/.config/tarn/tarn.yaml": one("b"), "work/.pyiceberg.yaml": one("c")},
			want:  "default b (the only catalog)\nb.type = sql (inferred from uri)\nb.uri = sqlite:////x (~/.config/tarn/tarn.yaml:1)\n",
		},
		"then PyIceberg's here": {
			files: map[string]string{"work/.pyiceberg.yaml": one("c"), "home/.pyiceberg.yaml": one("d")},
			want:  "default c (the only catalog)\nc.type = sql (inferred from uri)\nc.uri = sqlite:////x (.pyiceberg.yaml:1)\n",
		},
		"then PyIceberg's at home": {
			files: map[string]string{"home/.pyiceberg.yaml": one("d")},
			want:  "default d (the only catalog)\nd.type = sql (inferred from uri)\nd.uri = sqlite:////x (~/.pyiceberg.yaml:1)\n",
		},
		"--config stands before the usual files": {
			files: map[string]string{"work/tarn.yaml": one("a"), "work/my.yaml": one("m")},
			edit:  func(r *Request) { r.File = "my.yaml"; r.Environ = []string{"TARN_CONFIG=other.yaml"} },
			want:  "default m (the only catalog)\nm.type = sql (inferred from uri)\nm.uri = sqlite:////x (my.yaml:1)\n",
		},
		"TARN_CONFIG": {
			files: map[string]string{"work/tarn.yaml": one("a"), "work/other.yaml": one("o")},
			edit:  func(r *Request) { r.Environ = []string{"TARN_CONFIG=other.yaml"} },
			want:  "default o (the only catalog)\no.type = sql (inferred from uri)\no.uri = sqlite:////x (other.yaml:1)\n",
		},
		"flags alone": {
			edit: func(r *Request) { r.Warehouse = "/w" },
			want: "default lake (default)\nlake.type = hadoop (inferred from warehouse)\nlake.warehouse = /w (--warehouse)\n",
		},
		"a flag over a file": {
			files: map[string]string{"work/tarn.yaml": "default-catalog: a\ncatalog:\n  a: {type: rest, uri: 'http://x'}\n  b: {type: x}\n"},
			edit:  func(r *Request) { r.URI = "http://y" },
			want:  "default a (tarn.yaml:1)\na.type = rest (tarn.yaml:3)\na.uri = http://y (--uri)\nb.type = x (tarn.yaml:4)\n",
		},
		"--type makes a catalog anew": {
			files: map[string]string{"work/tarn.yaml": "catalog: {a: {type: rest, uri: 'http://x', token: t}}"},
			edit:  func(r *Request) { r.Type = "hadoop"; r.Warehouse = "/w" },
			want:  "default a (the only catalog)\na.type = hadoop (--type)\na.warehouse = /w (--warehouse)\n",
		},
		"PyIceberg's variables": {
			files: map[string]string{"work/.pyiceberg.yaml": "max-workers: 4\n" + one("my-cat")},
			edit: func(r *Request) {
				r.Environ = []string{
					"PYICEBERG_CATALOG__MY_CAT__S3__ACCESS_KEY_ID=k", "PYICEBERG_CATALOG__MY_CAT__URI=http://z",
					"PYICEBERG_CATALOG__BAD", "PYICEBERG_DEFAULT_CATALOG=my-cat",
				}
			},
			want: `default my-cat (PYICEBERG_DEFAULT_CATALOG)
my-cat.type = rest (inferred from uri)
my-cat.uri = http://z (PYICEBERG_CATALOG__MY_CAT__URI)
my-cat.s3.access-key-id = k (PYICEBERG_CATALOG__MY_CAT__S3__ACCESS_KEY_ID)
`},
		"a key that means nothing": {
			files: map[string]string{"work/tarn.yaml": "catalogs: {a: {type: x}}\n"},
			want: `default lake (default)
lake.type = sql (default)
lake.uri = sqlite:///ROOT/work/tarn-lake/catalog.db (default)
lake.warehouse = file://ROOT/work/tarn-lake/warehouse (default)
notice: tarn.yaml:1: the key "catalogs" means nothing here; did you mean "catalog"?
`},
		"an empty file": {
			files: map[string]string{"work/tarn.yaml": "# nothing\n"},
			edit:  func(r *Request) { r.Type, r.URI = "rest", "http://x" },
			want:  "default lake (default)\nlake.type = rest (--type)\nlake.uri = http://x (--uri)\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			req := place(t, c.files)
			if c.edit != nil {
				c.edit(&req)
			}
			got, err := Load(req)
			if err != nil {
				t.Fatal(err)
			}
			if text := dump(got, req); text != c.want {
				t.Errorf("got\n%s\nwant\n%s", text, c.want)
			}
		})
	}
}

func TestLoadRefuses(t *testing.T) {
	for _, c := range []struct {
		yaml string
		edit func(*Request)
		kind errs.Kind
		text string
	}{
		{yaml: "catalog: [a]", text: "tarn.yaml:1: catalog must hold keys"},
		{yaml: "catalog:\n  a: rest\n", text: `tarn.yaml:2: catalog a must hold keys with values, such as "type: rest", and holds the text "rest"`},
		{yaml: "catalog:\n  a:\n", text: "tarn.yaml:2: catalog a must hold keys with values, such as \"type: rest\", and holds nothing"},
		{yaml: "catalog:\n  a:\n    uri: [1, 2]\n", text: "tarn.yaml:3: uri must be one value, not a list"},
		{yaml: "catalog:\n  a:\n    uri:\n", text: "tarn.yaml:3: uri has no value"},
		{yaml: "catalog:\n  a:\n    s3: {uri: [1]}\n", text: "tarn.yaml:3: s3.uri must be one value"},
		{yaml: "catalog:\n  a: {x: 1}\n  a: {x: 2}\n", text: `tarn.yaml:3: the key "a" stands twice in catalog`},
		{yaml: "catalog:\n  a: &x {u: 1}\n  b: *x\n", text: "tarn.yaml:3: catalog b must hold keys with values, such as \"type: rest\", and holds an alias"},
		{yaml: "catalog:\n  ? [a]\n  : 1\n", text: "a key must be a word"},
		{yaml: "catalog:\n\ta: 1\n", text: "line 2"},
		{yaml: "catalog: {a: {uri: '${env:NOPE}'}}", text: "tarn.yaml:1: the environment variable NOPE is not set"},
		{yaml: "catalog: {a: {uri: '${env:NOPE'}}", text: "has no closing brace"},
		{yaml: "catalog: {a: {uri: x}, b: {uri: y}}", text: "a, b are configured, and none is the default"},
		{yaml: "default-catalog: z\ncatalog: {a: {uri: x}}", kind: errs.NotFound, text: "find catalog z: it is not configured"},
		{yaml: "catalog: {prod: {uri: x}}", edit: func(r *Request) { r.Catalog = "prd" }, kind: errs.NotFound, text: "find catalog prd"},
		{edit: func(r *Request) { r.Catalog = "prod" }, kind: errs.NotFound, text: "find catalog prod"},
		{edit: func(r *Request) { r.File = "missing.yaml" }, kind: errs.NotFound, text: "missing.yaml: there is no such file"},
		{edit: func(r *Request) { r.File = "." }, text: "is a directory"},
	} {
		files := map[string]string{"work/other": ""}
		if c.yaml != "" {
			files["work/tarn.yaml"] = c.yaml
		}
		req := place(t, files)
		if c.edit != nil {
			c.edit(&req)
		}
		want := c.kind
		if want == errs.Internal {
			want = errs.Invalid
		}
		_, err := Load(req)
		if err == nil || errs.KindOf(err) != want || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%q: %v (kind %v), want %v: %s", c.yaml, err, errs.KindOf(err), want, c.text)
		}
	}
}

func TestSecretsAreMasked(t *testing.T) {
	c := Catalog{Name: "x", Values: map[string]Value{}}
	for key, text := range map[string]string{
		"credential": "id:s", "token": "t", "s3.secret-access-key": "s", "s3.access-key-id": "k", "gcs.oauth2.token": "t",
		"adls.account-key": "k", "adls.sas-token.acc": "t", "header.Authorization": "Bearer t", "password": "p",
		"client_secret": "s", "header.x-api-key": "k",
	} {
		c.Values[key] = Value{Text: text}
		if got := c.Masked(key); got != mask {
			t.Errorf("%s is shown as %q", key, got)
		}
	}
	for key, texts := range map[string][2]string{
		"uri":               {"postgresql://me:pw@h/db?sslmode=off&password=x", "postgresql://me:********@h/db?sslmode=off&password=********"},
		"warehouse":         {"s3://bucket/a", "s3://bucket/a"},
		"jdbc":              {"mysql://me:p/w@h/db", "mysql://me:********@h/db"},
		"type":              {"rest", "rest"},
		"oauth2-server-uri": {"https://x/token", "https://x/token"},
		"plain":             {"me:pw@h", "me:pw@h"},
		"user":              {"https://me@h/", "https://me@h/"},
		"token-type":        {"bearer", "bearer"},
		"empty-secret":      {"", ""},
	} {
		c.Values[key] = Value{Text: texts[0]}
		if got := c.Masked(key); got != texts[1] {
			t.Errorf("%s is shown as %q, want %q", key, got, texts[1])
		}
	}
}

func TestPropertiesLeaveOutTheKnownKeys(t *testing.T) {
	c := Catalog{Values: map[string]Value{"type": {Text: "a"}, "uri": {Text: "b"}, "warehouse": {Text: "c"}, "token": {Text: "d"}}}
	if got := c.Properties(); len(got) != 1 || got["token"] != "d" {
		t.Errorf("Properties() = %v", got)
	}
}
