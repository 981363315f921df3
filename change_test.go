package tarn_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tarndb/tarn/internal/errs"
)

// TestChangesTakeNoClausesOfSelect: conditions and tables of statements that change rows are texts inside of a query, where what
// follows them must not become a clause of it.
func TestChangesTakeNoClausesOfSelect(t *testing.T) {
	i := newInserting(t)
	i.run("INSERT INTO n.a VALUES (1, 1, 'x'), (2, 1, 'y')")
	i.run("INSERT INTO n.b VALUES (1, 1, 'x'), (2, 1, 'y')")
	for _, stmt := range []string{
		"DELETE FROM n.a WHERE v = 1 LIMIT 1",
		"DELETE FROM n.a WHERE v = 1 ORDER BY k LIMIT 1",
		"DELETE FROM n.a WHERE v = 1 USING SAMPLE 10%",
		"DELETE FROM n.a WHERE v = 1 GROUP BY k",
		"DELETE FROM n.a WHERE v = 1 QUALIFY row_number() OVER () = 1",
		"DELETE FROM n.a WHERE v = 1 UNION ALL SELECT true",
		"DELETE FROM n.a USING n.b LIMIT 1",
		"DELETE FROM n.a USING n.b ORDER BY 1",
		"UPDATE n.a SET v = 2 FROM n.b LIMIT 1",
		"UPDATE n.a SET v = 2 FROM n.b UNION ALL SELECT * FROM n.b",
		"UPDATE n.a SET v = 2 LIMIT 1",
		"MERGE INTO n.a USING n.b ON a.k = b.k LIMIT 1 WHEN MATCHED THEN DELETE",
		"MERGE INTO n.a USING n.b ON a.k = b.k QUALIFY count(*) OVER (PARTITION BY a._pos) = 1 WHEN MATCHED THEN UPDATE SET v = 3",
		"MERGE INTO n.a USING n.b LIMIT 1 ON a.k = b.k WHEN MATCHED THEN DELETE",
		"MERGE INTO n.a USING n.b ON a.k = b.k WHEN MATCHED AND true LIMIT 1 THEN DELETE",
	} {
		_, err := i.Query(t.Context(), stmt)
		if kind := errs.KindOf(err); kind != errs.Syntax && kind != errs.Invalid {
			t.Errorf("%s: %v", stmt, err)
		}
	}
	if got := i.ask("SELECT count(*) FROM n.a WHERE v = 1"); got != "2" {
		t.Errorf("there are %s rows", got)
	}
	i.run("DELETE FROM n.a USING n.b AS b JOIN n.c AS c ON b.k = c.k WHERE a.k = b.k")
	i.run("DELETE FROM n.a USING (SELECT * FROM n.b ORDER BY k LIMIT 1) AS b WHERE a.k = b.k")
	if got := i.ask("SELECT count(*) FROM n.a"); got != "1" {
		t.Errorf("there are %s rows", got)
	}
}

// TestChangesAssignStructsByName: a struct of fields in another order is the same, one of other names is not.
func TestChangesAssignStructsByName(t *testing.T) {
	i := newInserting(t)
	i.run("CREATE TABLE n.s (k bigint, pos struct<lat: double, lon: double>)")
	i.run("INSERT INTO n.s VALUES (1, {'lat': 1.0, 'lon': 2.0})")
	i.run("MERGE INTO n.s USING (SELECT 1 AS k, {'lon': 20.0, 'lat': 10.0} AS pos) AS u ON s.k = u.k WHEN MATCHED THEN UPDATE SET *")
	i.want("SELECT pos.lat, pos.lon FROM n.s", "10f 20f")
	for _, stmt := range []string{
		"MERGE INTO n.s USING (SELECT 1 AS k, {'longitude': 20.0, 'latitude': 10.0} AS pos) AS u ON s.k = u.k WHEN MATCHED THEN UPDATE SET *",
		"MERGE INTO n.s USING (SELECT 2 AS k, {'longitude': 20.0, 'latitude': 10.0} AS pos) AS u ON s.k = u.k WHEN NOT MATCHED THEN INSERT *",
		"UPDATE n.s SET pos = {'longitude': 20.0, 'latitude': 10.0}",
	} {
		i.refuses(stmt, errs.Invalid, "by their names")
	}
}

// TestChangesRewriteOnlyFilesWithMatches: copy on write rewrites the files that have matches and no other, merge on read none, and a
// partition gets one new file for each time that its rows fill the target size, whatever packs they come through.
func TestChangesRewriteOnlyFilesWithMatches(t *testing.T) {
	const rows = 20_000
	matched := map[string]string{
		"some keys of all buckets": "k % 2500 = 0", "a bucket": "system.bucket(8, k) = 3 AND k % 7 = 0", "all keys": "true",
		"keys of the first files": fmt.Sprintf("k < %d AND k %% 3 = 0", rows/2),
	}
	for _, targetBytes := range []int64{512 << 20, 10_000} {
		for _, mode := range []string{"copy-on-write", "merge-on-read"} {
			for _, set := range []string{"SET tarn.spj = 'off'", "SET tarn.pack_bytes = 0"} {
				for name, where := range matched {
					t.Run(fmt.Sprintf("%d/%s/%s/%s", targetBytes, mode, set, name), func(t *testing.T) {
						i := newInserting(t)
						i.run(fmt.Sprintf("ALTER TABLE n.a SET TBLPROPERTIES ('write.target-file-size-bytes' = '%d')", 512<<20))
						for half := range 2 {
							i.run(fmt.Sprintf("INSERT INTO n.a SELECT i, 0, md5(CAST(i AS VARCHAR)) FROM range(%d, %d) r(i)", half*rows/2, (half+1)*rows/2))
						}
						i.run(fmt.Sprintf("ALTER TABLE n.a SET TBLPROPERTIES ('write.target-file-size-bytes' = '%d')", targetBytes))
						i.run(fmt.Sprintf("INSERT INTO n.b SELECT k, 1, Note FROM n.a WHERE %s UNION ALL SELECT k + %d, 2, Note FROM n.a WHERE %[1]s", where, rows))
						before := i.dataFiles()
						want := ""
						if mode == "copy-on-write" {
							want = i.ask("SELECT DISTINCT _file FROM n.a WHERE " + where + " ORDER BY _file")
						}
						i.run(set)
						i.run("SET tarn.row_change_mode = '" + mode + "'")
						i.run("MERGE INTO n.a t USING n.b s ON t.k = s.k WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *")
						after := i.dataFiles()
						var gone []string
						for path := range before {
							if _, ok := after[path]; !ok {
								gone = append(gone, path)
							}
						}
						slices.Sort(gone)
						if got := strings.Join(gone, "\n"); got != want {
							t.Errorf("these files were rewritten:\n%s\nand these have matches:\n%s", got, want)
						}
						made, bytes := map[string]int64{}, map[string]int64{}
						for path, size := range after {
							if _, ok := before[path]; !ok {
								partition := filepath.Base(filepath.Dir(path))
								made[partition]++
								bytes[partition] += size
							}
						}
						for partition, n := range made {
							if most := (bytes[partition] + targetBytes - 1) / targetBytes; n > most {
								t.Errorf("%s got %d files of %d bytes, and %d would do", partition, n, bytes[partition], most)
							}
						}
					})
				}
			}
		}
	}
}

// dataFiles returns the data files of n.a, with their bytes.
func (i *inserting) dataFiles() map[string]int64 {
	i.t.Helper()
	out := map[string]int64{}
	for line := range strings.Lines(i.ask("SELECT file_path, file_size_in_bytes FROM n.a.files WHERE content = 0")) {
		var path string
		var bytes int64
		if _, err := fmt.Sscan(line, &path, &bytes); err != nil {
			i.t.Fatalf("%s: %v", line, err)
		}
		out[path] = bytes
	}
	return out
}
