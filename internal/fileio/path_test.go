package fileio

import (
	"strings"
	"testing"

	"github.com/tarndb/tarn/internal/errs"
)

func TestRelocation(t *testing.T) {
	r, err := newRelocator([]Relocation{
		{From: "file:/warehouse", To: "/data/copy/"},
		{From: "/warehouse/a", To: "file:///elsewhere"},
		{From: "s3://bucket/wh/", To: "/s3"},
		{From: "/data", To: "/moved"},
		{From: "/data", To: "/moved-later"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"/warehouse/x":                    "/data/copy/x",
		"file:/warehouse/x":               "/data/copy/x",
		"file:///warehouse/x":             "/data/copy/x",
		"file://localhost/warehouse/x":    "/data/copy/x",
		"/warehouse":                      "/data/copy",
		"/warehouse/":                     "/data/copy/",
		"/warehouse2/x":                   "/warehouse2/x",
		"/warehouse/a/b":                  "/elsewhere/b",
		"/warehouse/ab":                   "/data/copy/ab",
		"/warehouse/s=a%20b%2Fc/f":        "/data/copy/s=a%20b%2Fc/f",
		"file:///warehouse/with space+ü/": "/data/copy/with space+ü/",
		"s3://bucket/wh/t/f":              "/s3/t/f",
		"/data/x":                         "/moved-later/x",
		"/other/warehouse/x":              "/other/warehouse/x",
		"relative/x":                      "relative/x",
		"dir:with/colon":                  "dir:with/colon",
		"/a:/b":                           "/a:/b",
	} {
		if got, err := r.local(path); err != nil || got != want {
			t.Errorf("%s lies at %s, %v; want %s", path, got, err, want)
		}
	}
	for path, kind := range map[string]errs.Kind{
		"s3://bucket/other": errs.Unsupported, "s3://bucket/wh2/x": errs.Unsupported, "hdfs://host:80/x": errs.Unsupported,
		"file://host/x": errs.Unsupported, "": errs.Corrupt,
	} {
		if got, err := r.local(path); errs.KindOf(err) != kind || err == nil {
			t.Errorf("%s lies at %s, %v; want %v", path, got, err, kind)
		}
	}
	root, err := newRelocator([]Relocation{{From: "/", To: "/chroot"}})
	if got, _ := root.local("file:/x"); err != nil || got != "/chroot/x" {
		t.Errorf("a root relocates to %s, %v", got, err)
	}
}

func TestWrongRelocations(t *testing.T) {
	for _, rule := range []Relocation{{From: "", To: "/x"}, {From: "/x", To: ""}, {From: "/x", To: "s3://b/x"}} {
		if _, err := newRelocator([]Relocation{rule}); err == nil || !strings.Contains(err.Error(), "TO") {
			t.Errorf("%+v: %v", rule, err)
		}
	}
}
