package lake

import (
	"context"
	"slices"

	"github.com/apache/iceberg-go/table"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/fileio"
	"github.com/tarndb/tarn/internal/manifest"
)

// PurgeGroup is what a purge deletes of one kind of files.
type PurgeGroup struct {
	Kind  string   // such as "data files"
	Files []string // sorted
	Bytes int64
	Kept  bool // they lie outside of the table's folders, or were added where they lay, may be others' too, and aren't deleted
}

// Purge is the plan of a drop with all files: what Execute does. A plan is for the version of the table that it was made of.
type Purge struct {
	catalog *Catalog
	ident   catalog.Ident
	base    string
	folder  string
	Groups  []PurgeGroup // in the order in which they are deleted, after the table is dropped
}

// GCEnabled is the property by which a table says whether its files are its own. Files of a table that is a snapshot of
// another one are that one's.
const GCEnabled = "gc.enabled"

// PlanPurge lists all files of all versions that the table still knows. It reads all manifests, and refuses a table with one
// that can't be read: some of its files would stay behind, known to nobody. It refuses a table, too, that the catalog's database
// has another name for, since the files are that name's as well.
func (c *Catalog) PlanPurge(ctx context.Context, t *catalog.Table) (*Purge, error) {
	h, err := c.handleOf(t)
	if err != nil {
		return nil, err
	}
	if value := t.Properties[GCEnabled]; !catalog.IsSet(t.Properties, GCEnabled, true) {
		err := errs.New(errs.Invalid, "purge table", t.Ident.String(), "its property %s is %s: its files may be those of other tables", GCEnabled, value)
		if _, ok := c.store.(*hadoopStore); ok {
			return nil, err.WithHint("without the property, which ALTER TABLE ... UNSET TBLPROPERTIES takes away, files that lie outside of the table's own folders stay too")
		}
		return nil, err.WithHint("DROP TABLE without PURGE leaves them")
	}
	p := &purging{handle: h, table: t, seen: map[string]bool{}, groups: map[string]*PurgeGroup{}}
	if err := p.folders(ctx); err != nil {
		return nil, errs.Wrap(errs.Internal, "purge table", t.Ident.String(), err)
	}
	if s, ok := c.store.(*sqlStore); ok {
		if err := p.aloneIn(ctx, s); err != nil {
			return nil, errs.Wrap(errs.Internal, "purge table", t.Ident.String(), err)
		}
	}
	if err := p.snapshots(ctx); err != nil {
		return nil, errs.Wrap(errs.Internal, "purge table", t.Ident.String(), err)
	}
	if err := p.metadata(ctx); err != nil {
		return nil, errs.Wrap(errs.Internal, "purge table", t.Ident.String(), err)
	}
	out := &Purge{catalog: c, ident: t.Ident, base: h.location, folder: h.meta.Location()}
	for _, kind := range purgeKinds {
		if g := p.groups[kind]; g != nil {
			slices.Sort(g.Files)
			out.Groups = append(out.Groups, *g)
		}
	}
	return out, nil
}

// The kinds of files, what refers to others before those: whatever is left by an interruption is then an orphan, and no
// file that is left names one that is gone.
const (
	kindMetadata     = "metadata files"
	kindStatistics   = "statistics files"
	kindManifestList = "manifest lists"
	kindManifest     = "manifests"
	kindDelete       = "delete files"
	kindData         = "data files"
	kindOthers       = "files of others, which stay"
)

var purgeKinds = []string{kindMetadata, kindStatistics, kindManifestList, kindManifest, kindDelete, kindData, kindOthers}

// purging gathers the files of a plan.
type purging struct {
	handle *handle
	table  *catalog.Table
	own    []string // the folders that the table has, or had, for its files
	others []string // the folders that data files were added from where they lay
	seen   map[string]bool
	groups map[string]*PurgeGroup
}

func (p *purging) add(kind, path string, bytes int64) {
	if path == "" || p.seen[path] {
		return
	}
	p.seen[path] = true
	if !p.isOwn(path) || kind == kindData && isWithinAny(path, p.others) {
		kind = kindOthers
	}
	g := p.groups[kind]
	if g == nil {
		g = &PurgeGroup{Kind: kind, Kept: kind == kindOthers}
		p.groups[kind] = g
	}
	g.Files = append(g.Files, path)
	g.Bytes += bytes
}

// isOwn says whether a path is in one of the table's folders.
func (p *purging) isOwn(path string) bool {
	return isWithinAny(path, p.own)
}

// folderKeys are the properties that give a table other folders than its location.
var folderKeys = []string{"write.data.path", "write.metadata.path", "write.object-storage.path", "write.folder-storage.path"}

// folders finds the folders of all versions that are still there: the table's own, and those that others' files were added from. A file may
// lie in both, since a folder may become the table's own after its files were added, by write.data.path or SET LOCATION; it is the others' then.
func (p *purging) folders(ctx context.Context) (err error) {
	c := p.handle.catalog
	versions := []table.Metadata{p.handle.meta}
	for entry := range p.handle.meta.PreviousFiles() {
		_, meta, err := c.readMetadata(ctx, entry.MetadataFile)
		if errs.KindOf(err) == errs.NotFound {
			continue
		}
		if err != nil {
			return err
		}
		versions = append(versions, meta)
	}
	for _, meta := range versions {
		folders := []string{meta.Location()}
		for _, key := range folderKeys {
			folders = append(folders, meta.Properties()[key])
		}
		for _, folder := range folders {
			if folder != "" && !slices.Contains(p.own, folder) {
				p.own = append(p.own, folder)
			}
		}
	}
	p.others, err = othersFolders(versions)
	return err
}

// snapshots adds the files of all snapshots, those that entries say were deleted included: they may still lie there.
func (p *purging) snapshots(ctx context.Context) error {
	c := p.handle.catalog
	reader := manifest.NewReader(c.fio, p.table.Specs)
	for _, s := range p.handle.meta.Snapshots() {
		list, err := c.manifests(ctx, &s)
		if err != nil {
			return err
		}
		if err := p.addUnsized(ctx, kindManifestList, s.ManifestList); err != nil {
			return err
		}
		for i := range list {
			m := &list[i]
			if p.seen[m.Path] {
				continue
			}
			if err := reader.Visit(ctx, m, manifest.StatColumns{}, p.entry); err != nil {
				return err
			}
			p.add(kindManifest, m.Path, m.Length)
		}
	}
	return nil
}

func (p *purging) entry(e *manifest.Entry) error {
	kind := kindData
	if e.Content != manifest.Data {
		kind = kindDelete
	}
	p.add(kind, e.Path, e.Bytes)
	return nil
}

func (p *purging) metadata(ctx context.Context) error {
	meta := p.handle.meta
	for s := range meta.Statistics() {
		p.add(kindStatistics, s.StatisticsPath, s.FileSizeInBytes)
	}
	for s := range meta.PartitionStatistics() {
		p.add(kindStatistics, s.StatisticsPath, s.FileSizeInBytes)
	}
	for entry := range meta.PreviousFiles() {
		if err := p.addUnsized(ctx, kindMetadata, entry.MetadataFile); err != nil {
			return err
		}
	}
	return p.addUnsized(ctx, kindMetadata, p.handle.location)
}

// addUnsized adds a file whose size the metadata doesn't say. One that isn't there any more is left out.
func (p *purging) addUnsized(ctx context.Context, kind, path string) error {
	if path == "" {
		return nil
	}
	f, err := p.handle.catalog.fio.Open(ctx, path)
	if errs.KindOf(err) == errs.NotFound {
		return nil
	}
	if err != nil {
		return err
	}
	p.add(kind, path, f.Size())
	return f.Close()
}

// Execute drops the table, if it still is at the version of the plan, and then deletes its files. Unless the table is
// known to be dropped, no file is deleted. Files that can't be deleted make no error but are returned by kind: they are
// orphans by then.
func (p *Purge) Execute(ctx context.Context) (left map[string]int, err error) {
	if err := p.catalog.store.drop(ctx, p.ident, p.base, true); err != nil {
		return nil, err
	}
	left = map[string]int{}
	for _, g := range p.Groups {
		if g.Kept {
			continue
		}
		for _, path := range g.Files {
			if ctx.Err() != nil {
				left[g.Kind]++
				continue
			}
			if err := p.catalog.fio.Remove(ctx, path); err != nil && errs.KindOf(err) != errs.NotFound {
				left[g.Kind]++
			}
		}
	}
	p.removeFolders(context.WithoutCancel(ctx))
	return left, nil
}

// removeFolders removes the folders of the files as far as they are empty. A folder of a table that stayed would be taken for
// a namespace in a hadoop catalog.
func (p *Purge) removeFolders(ctx context.Context) {
	above, _ := fileio.Split(p.folder)
	var files []string
	for _, g := range p.Groups {
		for _, path := range g.Files {
			if fileio.IsWithin(path, p.folder) {
				files = append(files, path)
			}
		}
	}
	p.catalog.removeEmpty(ctx, files, []string{above})
}
