package fileio

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tarndb/tarn/internal/errs"
)

// Relocation says that files whose paths in metadata start with From lie at To, so that a copied table opens where it
// lies. The spellings file:/x, file:///x, file://localhost/x and /x are one path.
type Relocation struct {
	From string
	To   string
}

// relocator turns the paths of metadata into paths of this machine. Its rules are sorted so that the first match wins.
type relocator []Relocation

func newRelocator(rules []Relocation) (relocator, error) {
	var r relocator
	for _, rule := range rules {
		from, to := TrimSlash(Plain(rule.From)), TrimSlash(Plain(rule.To))
		if from == "" || to == "" {
			return nil, errs.New(errs.Invalid, "relocate", rule.From+"="+rule.To, "both FROM and TO must be given")
		}
		if scheme := Scheme(to); scheme != "" {
			return nil, errs.New(errs.Unsupported, "relocate", rule.To, "%s paths can't be read; TO must be a local path", scheme)
		}
		r = append(r, Relocation{From: from, To: to})
	}
	// A longer FROM is the more special rule; of equal ones the later wins.
	slices.Reverse(r)
	slices.SortStableFunc(r, func(a, b Relocation) int { return cmp.Compare(len(b.From), len(a.From)) })
	return r, nil
}

// local returns where the file that metadata calls path lies. Paths are literal: nothing is decoded, so that %20 in a
// name stays %20, as the spec wants.
func (r relocator) local(path string) (string, error) {
	plain := Plain(path)
	for _, rule := range r {
		if rest, ok := cutFolder(plain, rule.From); ok {
			return strings.TrimSuffix(rule.To, "/") + rest, nil
		}
	}
	if plain == "" {
		return "", errs.New(errs.Corrupt, "resolve path", "", "the path is empty")
	}
	if scheme := Scheme(plain); scheme != "" {
		return "", errs.New(errs.Unsupported, "resolve path", path, "%s paths can't be read, only local files", scheme).
			WithHint("copy the files here and name both places: --relocate FROM=TO")
	}
	return plain, nil
}

// Plain drops the file scheme in its several spellings. Any other path is returned as it is.
func Plain(path string) string {
	rest, ok := strings.CutPrefix(path, "file:")
	if !ok {
		return path
	}
	authority, ok := strings.CutPrefix(rest, "//")
	if !ok {
		return rest
	}
	host, rest, _ := strings.Cut(authority, "/")
	if host != "" && host != "localhost" {
		return path
	}
	return "/" + strings.TrimLeft(rest, "/")
}

// Scheme returns the scheme of a path that Plain has been through, or "" for a local one.
func Scheme(path string) string {
	scheme, rest, ok := strings.Cut(path, ":")
	if !ok || len(scheme) < 2 || !strings.HasPrefix(rest, "/") {
		return ""
	}
	for _, r := range scheme {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("+-.", r) {
			return ""
		}
	}
	return strings.ToLower(scheme)
}

// cutFolder returns what follows folder in path, with its leading slash, when path is folder or lies in it.
func cutFolder(path, folder string) (string, bool) {
	rest, ok := strings.CutPrefix(path, folder)
	if !ok {
		return "", false
	}
	if folder == "/" {
		return "/" + rest, true
	}
	return rest, rest == "" || rest[0] == '/'
}

// IsWithin says whether a path is a folder or lies in it, however the two are spelled.
func IsWithin(path, folder string) bool {
	_, ok := cutFolder(Plain(path), TrimSlash(Plain(folder)))
	return ok
}

// TrimSlash drops trailing slashes but keeps the root.
func TrimSlash(path string) string {
	if trimmed := strings.TrimRight(path, "/"); trimmed != "" {
		return trimmed
	}
	return path
}

// Under spells a path within folder, in folder's own spelling.
func Under(folder string, names ...string) string {
	return strings.TrimRight(folder, "/") + "/" + strings.Join(names, "/")
}

// Split parts a path into its folder and its name.
func Split(path string) (folder, name string) {
	i := strings.LastIndexByte(path, '/')
	if i < 0 {
		return ".", path
	}
	return path[:max(i, 1)], path[i+1:]
}
