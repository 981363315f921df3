package config

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tarndb/tarn/internal/errs"
)

// Request is what the command line and the surroundings say. The zero Request with a folder finds the embedded default.
type Request struct {
	File                          string // --config, or ""
	Catalog, Type, URI, Warehouse string // the flags of these names, or ""
	Environ                       []string
	Dir, Home                     string // the working and the home folder; Home may be ""
}

// Load finds the configuration. The first file that exists is read, and no other.
func Load(req Request) (*Config, error) {
	env := environment(req.Environ)
	c := &Config{}
	draft, err := readFirst(req, env)
	if err != nil {
		return nil, err
	}
	if draft != nil {
		c.File = draft.file
	} else {
		draft = newDraft("")
	}
	draft.addEnvironment(req.Environ)
	if len(draft.catalogs) == 0 && !req.definesCatalog() {
		c.Embedded = true
		draft.addEmbedded(req.Dir)
	}
	if c.Default, err = draft.chooseDefault(req); err != nil {
		return nil, err
	}
	draft.addFlags(req, c.Default.Text)
	if err := draft.finish(c, env); err != nil {
		return nil, err
	}
	if _, err := c.Catalog(c.Default.Text); err != nil {
		return nil, err
	}
	return c, nil
}

func (r Request) definesCatalog() bool { return r.Type != "" || r.URI != "" || r.Warehouse != "" }

// readFirst reads the file that the request names, else the first of the usual ones that exists, else none.
func readFirst(req Request, env map[string]string) (*draft, error) {
	named := req.File
	if named == "" {
		named = env["TARN_CONFIG"]
	}
	if named != "" {
		path := named
		if !filepath.IsAbs(path) {
			path = filepath.Join(req.Dir, path)
		}
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, errs.New(errs.NotFound, "read configuration", named, "there is no such file")
		}
		if err != nil {
			return nil, errs.Wrap(errs.Invalid, "read configuration", named, err)
		}
		return parseYAML(named, text)
	}
	for _, path := range usualFiles(req) {
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, errs.Wrap(errs.Invalid, "read configuration", path, err)
		}
		return parseYAML(shorten(path, req), text)
	}
	return nil, nil
}

func usualFiles(req Request) []string {
	files := []string{filepath.Join(req.Dir, "tarn.yaml")}
	if req.Home != "" {
		files = append(files, filepath.Join(req.Home, ".config", "tarn", "tarn.yaml"))
	}
	files = append(files, filepath.Join(req.Dir, ".pyiceberg.yaml"))
	if req.Home != "" {
		files = append(files, filepath.Join(req.Home, ".pyiceberg.yaml"))
	}
	return files
}

// shorten names a file as a person would: relative to the working folder, or to the home by "~".
func shorten(path string, req Request) string {
	if rel, ok := strings.CutPrefix(path, req.Dir+string(filepath.Separator)); ok {
		return rel
	}
	if rel, ok := strings.CutPrefix(path, req.Home+string(filepath.Separator)); ok && req.Home != "" {
		return filepath.Join("~", rel)
	}
	return path
}

func environment(environ []string) map[string]string {
	env := make(map[string]string, len(environ))
	for _, e := range environ {
		if name, value, ok := strings.Cut(e, "="); ok {
			env[name] = value
		}
	}
	return env
}

// draft is a configuration before variables are expanded.
type draft struct {
	file     string
	catalogs map[string]map[string]Value
	def      Value
	notices  []string
}

func newDraft(file string) *draft {
	return &draft{file: file, catalogs: make(map[string]map[string]Value)}
}

func (d *draft) set(catalog, key string, v Value) {
	if d.catalogs[catalog] == nil {
		d.catalogs[catalog] = make(map[string]Value)
	}
	d.catalogs[catalog][key] = v
}

// addEnvironment reads PyIceberg's variables: PYICEBERG_CATALOG__NAME__S3__ACCESS_KEY_ID is the key s3.access-key-id of
// the catalog name. As there, they stand over the file.
func (d *draft) addEnvironment(environ []string) {
	for _, e := range slices.Sorted(slices.Values(environ)) {
		name, value, _ := strings.Cut(e, "=")
		if name == "PYICEBERG_DEFAULT_CATALOG" {
			d.def = Value{value, name}
		}
		rest, ok := strings.CutPrefix(name, "PYICEBERG_CATALOG__")
		if !ok {
			continue
		}
		catalog, key, ok := strings.Cut(rest, "__")
		if !ok || catalog == "" || key == "" {
			continue
		}
		d.set(lowerKey(catalog), lowerKey(key), Value{value, name})
	}
}

func lowerKey(s string) string {
	return strings.NewReplacer("__", ".", "_", "-").Replace(strings.ToLower(s))
}

func (d *draft) addEmbedded(dir string) {
	folder := filepath.ToSlash(filepath.Join(dir, EmbeddedFolder))
	for key, text := range map[string]string{
		KeyType: "sql", KeyURI: "sqlite:///" + folder + "/catalog.db", KeyWarehouse: "file://" + folder + "/warehouse",
	} {
		d.set(EmbeddedName, key, Value{text, "default"})
	}
	if d.def.Text == "" {
		d.def = Value{EmbeddedName, "default"}
	}
}

// chooseDefault picks the catalog of unqualified names: --catalog, what the file says, "default", or the only one.
func (d *draft) chooseDefault(req Request) (Value, error) {
	names := slices.Sorted(maps.Keys(d.catalogs))
	switch {
	case req.Catalog != "":
		return Value{req.Catalog, "--catalog"}, nil
	case d.def.Text != "":
		return d.def, nil
	case d.catalogs[DefaultName] != nil:
		return Value{DefaultName, "default"}, nil
	case len(names) == 0:
		return Value{EmbeddedName, "default"}, nil
	case len(names) == 1:
		return Value{names[0], "the only catalog"}, nil
	}
	return Value{}, errs.New(errs.Invalid, "choose catalog", "", "%s are configured, and none is the default",
		strings.Join(names, ", ")).WithHint("give --catalog %s, or write default-catalog: %s into the file", names[0], names[0])
}

// addFlags lays --type, --uri and --warehouse over the default catalog. --type makes it anew: what a file says about a
// catalog of another type means nothing for this one.
func (d *draft) addFlags(req Request, catalog string) {
	if req.Type != "" {
		delete(d.catalogs, catalog)
	}
	for flag, text := range map[string]string{KeyType: req.Type, KeyURI: req.URI, KeyWarehouse: req.Warehouse} {
		if text != "" {
			d.set(catalog, flag, Value{text, "--" + flag})
		}
	}
}
