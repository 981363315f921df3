package lake

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/apache/iceberg-go/table"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/fileio"
)

// importedKey is the table property that lists, as JSON, the folders that files were added from where they lay. What lies there was written by
// somebody else, who may have other uses for it: a purge leaves it, wherever the table's own folders are by then.
const importedKey = "tarn.imported-from"

// snapshotKey is the property by which Iceberg's procedure snapshot marks a table of files that are another one's.
const snapshotKey = "snapshot"

// NoteImport adds where the files of an import lie to a table's properties: the folder above those that say partition values, so that the
// list stays short where a table gets its partitions one by one.
func NoteImport(props map[string]string, from string) error {
	folder, err := absoluteFolder(from)
	if err != nil {
		return err
	}
	for folder = fileio.Plain(folder); ; {
		above, name := fileio.Split(folder)
		if !strings.Contains(name, "=") {
			break
		}
		folder = above
	}
	folders, err := importedFrom(props)
	if err != nil || isWithinAny(folder, folders) {
		return err
	}
	folders = slices.DeleteFunc(folders, func(f string) bool { return fileio.IsWithin(f, folder) })
	text, err := json.Marshal(append(folders, folder))
	props[importedKey] = string(text)
	return err
}

// importedFrom returns the folders that properties say files were added from.
func importedFrom(props map[string]string) (folders []string, err error) {
	text, ok := props[importedKey]
	if !ok {
		return nil, nil
	}
	if err := json.Unmarshal([]byte(text), &folders); err != nil {
		return nil, errs.New(errs.Invalid, "", "", "its property %s, which lists folders as JSON, can't be read: %s", importedKey, text)
	}
	return folders, nil
}

// isWithinAny says whether a path lies in one of some folders.
func isWithinAny(path string, folders []string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool { return fileio.IsWithin(path, folder) })
}

// othersFolders returns the folders whose data files versions of a table were given. Any version counts: that a property was taken away later
// doesn't make a file the table's own. A table that another engine made as a snapshot doesn't say where its files come from, and is refused.
func othersFolders(versions []table.Metadata) ([]string, error) {
	var all []string
	for _, meta := range versions {
		props := meta.Properties()
		folders, err := importedFrom(props)
		if err != nil {
			return nil, err
		}
		all = append(all, folders...)
	}
	if current := versions[0].Properties(); catalog.IsSet(current, snapshotKey, false) && len(all) == 0 {
		return nil, errs.New(errs.Invalid, "", "", "its property %s says that it was made of files that are another table's, and nothing says which those are", snapshotKey).
			WithHint("DROP TABLE without PURGE leaves them; without the property, ALTER TABLE ... UNSET TBLPROPERTIES ('%s'), all files in the table's own folders are its own", snapshotKey)
	}
	return all, nil
}
