package lake

import (
	"context"
	"io/fs"
	"strconv"
	"strings"

	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/fileio"
)

// hintName is the file that tells a hadoop table's readers which version is current, or nearly so.
const hintName = "version-hint.text"

// version is one numbered metadata file of a hadoop table.
type version struct {
	number int
	path   string
}

// newestVersion finds the current metadata file of a hadoop table by listing its metadata folder. The hint may be missing
// or behind, since it is written after the version; a hint ahead of every file means that files are lost, and rows with
// them, so it is an error. The hint is read first: by the time of the listing a writer may be ahead of it, never it of the
// writers. NotFound with number 0 means that there is no table.
func newestVersion(ctx context.Context, fio fileio.Files, folder string) (version, error) {
	hint, err := readHint(ctx, fio, folder)
	if err != nil {
		return version{}, err
	}
	entries, err := fio.List(ctx, folder)
	if err != nil {
		return version{}, err
	}
	var newest version
	var foreign string
	for _, e := range entries {
		number, numbered := versionOf(e.Name())
		switch {
		case numbered && number > newest.number:
			newest = version{number: number, path: fileio.Under(folder, e.Name())}
		case numbered:
		case isMetadataFile(e):
			foreign = fileio.Under(folder, e.Name())
		}
	}
	switch {
	case newest.number == 0:
		return version{}, noVersion(folder, foreign)
	case hint > newest.number:
		return newest, errs.New(errs.NotFound, "find the current version", fileio.Under(folder, hintName),
			"it names version %d, but the newest metadata file is %s", hint, newest.path).
			WithHint("name the metadata file to read an older version")
	}
	return newest, nil
}

func noVersion(folder, foreign string) error {
	if foreign == "" {
		return errs.New(errs.NotFound, "find the current version", folder, "no metadata file vN.metadata.json")
	}
	return errs.New(errs.Invalid, "find the current version", folder,
		"its metadata files belong to a catalog, and only the catalog knows which one is current").
		WithHint("open the table through its catalog, or name the file, such as %s", foreign)
}

// readHint returns the version that version-hint.text names; 0 when it is missing or no number.
func readHint(ctx context.Context, fio fileio.Files, folder string) (int, error) {
	text, err := fileio.Read(ctx, fio, fileio.Under(folder, hintName))
	if errs.KindOf(err) == errs.NotFound {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	hint, unreadable := strconv.Atoi(strings.TrimSpace(string(text)))
	if unreadable != nil {
		hint = 0
	}
	return hint, nil
}

// versionOf returns N of vN.metadata.json, vN.gz.metadata.json or vN.metadata.json.gz, the two spellings of gzip.
func versionOf(name string) (int, bool) {
	stem, ok := metadataStem(name)
	if !ok {
		return 0, false
	}
	digits, ok := strings.CutPrefix(stem, "v")
	if !ok {
		return 0, false
	}
	number, err := strconv.Atoi(digits)
	return number, err == nil && number > 0 && strconv.Itoa(number) == digits
}

// metadataStem returns the name of a table metadata file without what says that it is one.
func metadataStem(name string) (string, bool) {
	for _, suffix := range []string{".gz.metadata.json", ".metadata.json.gz", ".metadata.json"} {
		if stem, ok := strings.CutSuffix(name, suffix); ok && stem != "" && !hidden(stem) {
			return stem, true
		}
	}
	return "", false
}

func isMetadataName(name string) bool {
	_, ok := metadataStem(name)
	return ok
}

func isMetadataFile(e fs.DirEntry) bool { return isMetadataName(e.Name()) && !e.IsDir() }

// metadataNumber returns N of the metadata file's name, NNNNN-UUID or vN, or 0 when it has none.
func metadataNumber(path string) int {
	_, name := fileio.Split(path)
	if number, ok := versionOf(name); ok {
		return number
	}
	digits, _, _ := strings.Cut(name, "-")
	number, err := strconv.Atoi(digits)
	if err != nil || number < 0 {
		return 0
	}
	return number
}
