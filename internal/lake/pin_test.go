package lake

import (
	"strings"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
)

func snapshotPoint(id catalog.SnapshotID) catalog.Point { return catalog.Point{Snapshot: &id} }

func timePoint(ms int64) catalog.Point { return catalog.Point{TimestampMs: &ms} }

// versionOfTable says what a version must be: the snapshot and the columns, or the kind of the error and a part of it.
type versionOfTable struct {
	table   string
	at      catalog.Point
	want    catalog.SnapshotID
	columns string
	kind    errs.Kind
	text    string
}

func TestVersions(t *testing.T) {
	c := goldenHadoop(t)
	for _, tc := range []versionOfTable{
		{table: "snap.travel", want: 5086169376843623533, columns: "id val w"},
		{table: "snap.travel", at: snapshotPoint(7161800808131307925), want: 7161800808131307925, columns: "id v w"},
		{table: "snap.travel", at: catalog.Point{Ref: "first"}, want: 491638879528551655, columns: "id v"},
		{table: "snap.travel", at: catalog.Point{Ref: "first", Kind: catalog.Tag}, want: 491638879528551655, columns: "id v"},
		{table: "snap.travel", at: catalog.Point{Ref: "dev"}, want: 1279498829351745131, columns: "id val w"},
		{table: "snap.travel", at: catalog.Point{Ref: "main", Kind: catalog.Branch}, want: 5086169376843623533, columns: "id val w"},
		{table: "snap.travel", at: catalog.Point{Ref: "491638879528551655"}, want: 491638879528551655, columns: "id v"},
		{table: "snap.travel", at: timePoint(1795981731402), want: 491638879528551655, columns: "id v"},
		{table: "snap.travel", at: timePoint(1795981731403), want: 3370394800187669357, columns: "id v"},
		{table: "snap.travel", at: timePoint(1 << 60), want: 5086169376843623533, columns: "id val w"},
		// The log knows of the rollback; no snapshot was made then.
		{table: "snap.rolled", at: timePoint(1795981741949), want: 4865781701196420439, columns: "id v"},
		{table: "snap.rolled", at: timePoint(1795981741950), want: 69102128003866490, columns: "id v"},
		// A staged snapshot was never current, whatever its own time.
		{table: "snap.wap", at: timePoint(1795981750100), want: 5237660255188675016, columns: "id v"},
		{table: "snap.wap", at: snapshotPoint(2907138374880917306), want: 2907138374880917306, columns: "id v"},

		{table: "snap.travel", at: snapshotPoint(0), kind: errs.NotFound, text: "snapshots: 491638879528551655, 33703"},
		{table: "snap.travel", at: catalog.Point{Ref: "nope"}, kind: errs.NotFound, text: "branches and tags: dev, first, main, odd-tag/1.0"},
		{table: "snap.travel", at: catalog.Point{Ref: "DEV"}, kind: errs.NotFound, text: "branch or tag DEV"},
		{table: "snap.travel", at: catalog.Point{Ref: "first", Kind: catalog.Branch}, kind: errs.NotFound, text: "it is a tag"},
		{table: "snap.travel", at: catalog.Point{Ref: "12", Kind: catalog.Tag}, kind: errs.NotFound, text: "tag 12"},
		{table: "snap.travel", at: timePoint(1795981729139), kind: errs.NotFound, text: "earliest known snapshot is of 2026-11-29 19:48:49.14+00"},
		{table: "snap.expired", at: snapshotPoint(1629747816079489057), kind: errs.NotFound, text: "or it has expired"},
	} {
		got, err := c.LoadTable(t.Context(), strings.Split(tc.table, "."), catalog.Version{At: tc.at})
		switch {
		case err != nil:
			if text := err.Error() + errs.HintOf(err); tc.want != 0 || errs.KindOf(err) != tc.kind || !strings.Contains(text, tc.text) {
				t.Errorf("%s at %s: %v, want %d, %v %q", tc.table, tc.at, text, tc.want, tc.kind, tc.text)
			}
		case got.Snapshot.ID != tc.want || names(got.Schema) != tc.columns:
			t.Errorf("%s at %s: snapshot %d with %s, want %d with %s", tc.table, tc.at, got.Snapshot.ID, names(got.Schema), tc.want, tc.columns)
		}
	}
}

func names(s *catalog.Schema) string {
	var out []string
	for _, f := range s.Fields {
		out = append(out, f.Name)
	}
	return strings.Join(out, " ")
}

func TestRuns(t *testing.T) {
	c := goldenHadoop(t)
	for _, tc := range []struct {
		table       string
		since, till catalog.Point
		reading     catalog.Reading
		all         bool // without since
		want        string
	}{
		{table: "snap.travel", since: catalog.Point{Ref: "first"}, till: catalog.Point{Ref: "odd-tag/1.0"}, want: "3370394800187669357"},
		{table: "snap.travel", since: catalog.Point{Ref: "first"}, till: catalog.Point{Ref: "first"}, want: ""},
		{table: "snap.travel", since: catalog.Point{Ref: "odd-tag/1.0"}, till: catalog.Point{Ref: "dev"}, reading: catalog.ReadChanges,
			want: "1408815620732462800 1279498829351745131"},
		{table: "snap.travel", all: true, reading: catalog.ReadChanges,
			want: "491638879528551655 3370394800187669357 7161800808131307925 6340792484082177206 5086169376843623533"},
		// A replace is passed over.
		{table: "snap.manifests", since: snapshotPoint(7159266152261087193), want: "7015589276794302650"},
		// The parent that expired still bounds a run.
		{table: "snap.expired", since: snapshotPoint(1953824613859127870), want: "3763923271722999701"},
		{table: "snap.expired", all: true, reading: catalog.ReadChanges, want: "3763923271722999701"},
		{table: "snap.rolled", since: timePoint(1795981740477), want: "1231306019091646065"},

		{table: "snap.travel", since: catalog.Point{Ref: "odd-tag/1.0"}, want: "invalid: 7161800808131307925 between is no append"},
		{table: "snap.travel", since: catalog.Point{Ref: "dev"}, want: "invalid: is no ancestor of the current snapshot"},
		{table: "snap.travel", since: catalog.Point{Ref: "main"}, till: catalog.Point{Ref: "first"}, want: "invalid: is no ancestor of tag first"},
		{table: "snap.travel", since: snapshotPoint(1), want: "not-found: no such snapshot"},
		{table: "snap.travel", since: timePoint(0), want: "not-found: earliest known snapshot"},
		{table: "snap.expired", since: snapshotPoint(3414336720620415339), want: "invalid: whose known ancestry is 3763923271722999701"},
	} {
		v := catalog.Version{At: tc.till, Reading: max(tc.reading, catalog.ReadAppends), Since: &tc.since}
		if tc.all {
			v.Since = nil
		}
		table, err := c.LoadTable(t.Context(), strings.Split(tc.table, "."), v)
		kind, text, _ := strings.Cut(tc.want, ": ")
		if err != nil {
			if errs.KindOf(err).String() != kind || !strings.Contains(err.Error(), text) {
				t.Errorf("%s, %s: %v, want %s", tc.table, v.Key(), err, tc.want)
			}
			continue
		}
		var ids []string
		for _, s := range table.Handle.(*handle).run {
			ids = append(ids, snapshotPoint(catalog.SnapshotID(s.SnapshotID)).String())
		}
		got := strings.ReplaceAll(strings.Join(ids, " "), "snapshot ", "")
		if got != tc.want {
			t.Errorf("%s, %s: %s, want %s", tc.table, v.Key(), got, tc.want)
		}
	}
}

func TestNames(t *testing.T) {
	c := goldenHadoop(t)
	tag := catalog.Version{At: catalog.Point{Ref: "first"}}
	for _, tc := range []struct {
		name string
		with catalog.Version
		want string // the table, its version, its first and last column; or the error
	}{
		{name: "snap.travel", want: "snap.travel|0 the current snapshot|id w"},
		{name: "snap.travel.branch_dev", want: "snap.travel|0 branch dev|id w"},
		{name: "snap.travel.tag_first", want: "snap.travel|0 tag first|id v"},
		{name: "snap.travel.tag_odd-tag/1.0", want: `snap.travel|0 tag "odd-tag/1.0"|id v`},
		{name: "snap.travel.CHANGES", want: "snap.travel|2 the current snapshot|id _commit_snapshot_id"},
		{name: "snap.travel.changes", with: tag, want: "snap.travel|2 tag first|id _commit_snapshot_id"},
		{name: "snap.travel.Snapshots", want: "snap.travel.snapshots|0 the current snapshot|committed_at summary"},
		{name: "snap.travel.files", with: tag, want: "snap.travel.files|0 tag first|content readable_metrics"},

		{name: "snap.travel.branch_first", want: "not-found: it is a tag"},
		{name: "snap.travel.Branch_dev", want: "not-found: no such table"},
		{name: "snap.travel.branch_", want: "not-found: no such table"},
		{name: "snap.nothing.files", want: "not-found: load table snap.nothing: no such table"},
		{name: "travel.files", want: "not-found: no such table"},
		{name: "snap.travel.tag_first", with: tag, want: "invalid: leave one of them out"},
		{name: "snap.travel.files", with: catalog.Version{Reading: catalog.ReadAppends, Since: &tag.At}, want: "invalid: no rows between two snapshots"},
		{name: "broken.hint_ahead.files", want: "not-found: version 99"},
	} {
		parts := strings.SplitN(tc.name, ".", 3) // a tag's name has a dot
		table, err := c.Pins().Resolve(t.Context(), parts, tc.with)
		if err != nil {
			kind, text, _ := strings.Cut(tc.want, ": ")
			if errs.KindOf(err).String() != kind || !strings.Contains(err.Error()+errs.HintOf(err), text) {
				t.Errorf("%s: %v, want %s", tc.name, err, tc.want)
			}
			continue
		}
		columns := strings.Fields(names(table.Schema))
		got := table.Ident.String() + "|" + table.Version.Key() + "|" + columns[0] + " " + columns[len(columns)-1]
		if got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
}

// TestPinsLoadOnce looks at two versions of one table: they come from one metadata file, which is read once.
func TestPinsLoadOnce(t *testing.T) {
	p := goldenHadoop(t).Pins()
	resolve := func(name string, v catalog.Version) *catalog.Table {
		table, err := p.Resolve(t.Context(), strings.Split(name, "."), v)
		if err != nil {
			t.Fatal(err)
		}
		return table
	}
	now := resolve("snap.travel", catalog.Version{}).Handle.(*handle)
	if then := resolve("snap.travel", catalog.Version{At: catalog.Point{Ref: "first"}}).Handle.(*handle); then.meta != now.meta {
		t.Error("the tag comes from other metadata than the table")
	}
	if branch := resolve("snap.travel.branch_dev", catalog.Version{}).Handle.(*handle); branch.meta != now.meta {
		t.Error("the branch comes from other metadata than the table")
	}
}
