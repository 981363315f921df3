package blackbox

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/meter"
)

const mib = 1 << 20

// wide is a lake of two tables of wide rows, big.l and big.r, bucketed alike by k, not compressed: its bytes on disk are
// honest. For each k below keys there is one row of r, with w = 3k, and two of l, with id = k and id = k + keys.
type wide struct {
	*folder
	keys  int
	bytes int64 // of data files
}

// bytesPerKey is what a key takes in both tables' files, a bit less than measured.
const bytesPerKey = 1200

var wideLakes = struct {
	sync.Mutex
	made map[int]*wide
}{made: map[int]*wide{}}

// wideLake returns the lake with at least so many bytes of data files.
func wideLake(t *testing.T, least int) *wide {
	t.Helper()
	wideLakes.Lock()
	defer wideLakes.Unlock()
	if w := wideLakes.made[least]; w != nil {
		return w
	}
	f, err := openFolder(sharedDir(t))
	if err != nil {
		t.Fatal(err)
	}
	w := &wide{folder: f, keys: least/bytesPerKey + 1}
	for _, table := range w.tables() {
		bytes, err := f.add(context.Background(), table)
		if err != nil {
			t.Fatal(err)
		}
		w.bytes += bytes
	}
	if err := f.close(); err != nil {
		t.Fatal(err)
	}
	if w.bytes < int64(least) {
		t.Fatalf("the lake has %d bytes, want %d", w.bytes, least)
	}
	wideLakes.made[least] = w
	return w
}

func (w *wide) tables() []bucketed {
	const pad = `repeat(md5(i::VARCHAR), 12)`
	// DuckDB writes a column of a row group as one page, which is read whole: with 8,192 rows 3 MiB, near what others write.
	plain := duck.CopyOptions{Compression: "uncompressed", RowGroupRows: 8192}
	return []bucketed{
		{
			name: "l", buckets: 64, from: fmt.Sprintf("range(%d) AS r(i)", 2*w.keys), copy: plain,
			columns: []column{{"k", longType, fmt.Sprintf("(i %% %d)", w.keys)}, {"id", longType, "i"}, {"pad", stringType, pad}},
		}, {
			name: "r", buckets: 64, from: fmt.Sprintf("range(%d) AS r(i)", w.keys), copy: plain,
			columns: []column{{"k", longType, "i"}, {"w", longType, "i * 3"}, {"note", stringType, pad}},
		},
	}
}

// sums are what the queries over the lake must give.
func (w *wide) rows() int     { return 2 * w.keys }
func (w *wide) sumOfID() int  { return w.keys * (2*w.keys - 1) }
func (w *wide) sumOfW() int   { return 3 * w.keys * (w.keys - 1) }
func (w *wide) sumEvenW() int { n := (w.keys + 1) / 2; return 6 * n * (n - 1) }

// question is a query with what its rows must be.
type question struct {
	name, sql string
	check     func(w *wide) rowCheck
}

// rowCheck looks at each row of an answer, then at the end.
type rowCheck interface {
	row(fields []string) error
	end() error
}

const joined = `big.l AS l JOIN big.r AS r ON l.k = r.k`

var questions = []question{
	{
		"join and group by the key",
		`SELECT count(*), sum(n), sum(s) FROM (SELECT l.k, count(*) AS n, sum(r.w) AS s, max(l.pad || r.note) AS m FROM ` + joined + ` GROUP BY l.k)`,
		func(w *wide) rowCheck { return &oneRow{want: []int{w.keys, w.rows(), w.sumOfW()}} },
	}, {
		"left join", `SELECT count(*), sum(l.id), sum(r.w), max(length(l.pad)), max(length(r.note)) FROM big.l AS l LEFT JOIN big.r AS r ON l.k = r.k AND r.w % 2 = 0`,
		func(w *wide) rowCheck { return &oneRow{want: []int{w.rows(), w.sumOfID(), w.sumEvenW(), 384, 384}} },
	}, {
		"join, all rows out", `SELECT l.id, r.w, l.pad, r.note FROM ` + joined,
		func(w *wide) rowCheck { return &everyRow{lake: w, step: 1} },
	}, {
		"join, an eighth of the rows out", `SELECT l.id, r.w, l.pad, r.note FROM ` + joined + ` WHERE l.k % 8 = 0`,
		func(w *wide) rowCheck { return &everyRow{lake: w, step: 8} },
	}, {
		"join, all rows in order", `SELECT l.id, r.w, l.pad, r.note FROM ` + joined + ` ORDER BY r.w DESC, l.id`,
		func(w *wide) rowCheck { return &everyRow{lake: w, step: 1, ordered: true, last: 1 << 62} },
	},
}

// oneRow wants a single row of numbers.
type oneRow struct {
	want []int
	got  [][]string
}

func (c *oneRow) row(fields []string) error {
	c.got = append(c.got, fields)
	return nil
}

func (c *oneRow) end() error {
	if want := strings.Fields(strings.Trim(fmt.Sprint(c.want), "[]")); len(c.got) != 1 || strings.Join(c.got[0], " ") != strings.Join(want, " ") {
		return fmt.Errorf("rows %q, want %q", c.got, want)
	}
	return nil
}

// everyRow wants each row of the join once, or those of every step-th key.
type everyRow struct {
	lake            *wide
	step            int
	ordered         bool
	last            int
	rows, ids, sumW int
}

func (c *everyRow) row(fields []string) error {
	id, err1 := strconv.Atoi(fields[0])
	w, err2 := strconv.Atoi(fields[1])
	switch {
	case err1 != nil || err2 != nil || len(fields) != 4:
		return fmt.Errorf("row %q", fields)
	case w != 3*(id%c.lake.keys) || w%(3*c.step) != 0 || len(fields[2]) != 384 || len(fields[3]) != 384:
		return fmt.Errorf("row %q doesn't belong together", fields)
	case c.ordered && w > c.last:
		return fmt.Errorf("row %q comes after w = %d", fields, c.last)
	}
	c.last = w
	c.rows, c.ids, c.sumW = c.rows+1, c.ids+id, c.sumW+w
	return nil
}

func (c *everyRow) end() error {
	n := (c.lake.keys + c.step - 1) / c.step
	sumK := c.step * n * (n - 1) / 2
	if rows, ids, sumW := 2*n, 2*sumK+n*c.lake.keys, 6*sumK; c.rows != rows || c.ids != ids || c.sumW != sumW {
		return fmt.Errorf("%d rows with sums %d and %d, want %d with %d and %d", c.rows, c.ids, c.sumW, rows, ids, sumW)
	}
	return nil
}

// csvSink passes the rows of simple CSV on to a check as they come.
type csvSink struct {
	check rowCheck
	part  []byte
	lines int
	err   error
}

func (s *csvSink) Write(p []byte) (int, error) {
	n := len(p)
	for {
		at := bytes.IndexByte(p, '\n')
		if at < 0 {
			s.part = append(s.part, p...)
			return n, nil
		}
		line := p[:at]
		if len(s.part) > 0 {
			line = append(s.part, line...)
		}
		if s.lines++; s.lines > 1 && s.err == nil { // the first is the heading
			s.err = s.check.row(strings.Split(string(line), ","))
		}
		s.part, p = s.part[:0], p[at+1:]
	}
}

// verdict is how a question ended.
type verdict struct {
	outcome
	used  meter.Report
	wrong error // about the rows
}

// ask runs a question within a memory limit.
func (w *wide) ask(t *testing.T, q question, spj string, memory int) verdict {
	t.Helper()
	flags, usage := usageFlags(t)
	temp := t.TempDir()
	args := append(flags, "--memory", fmt.Sprintf("%dMiB", memory>>20), "--temp", temp, "--format", "csv",
		"-c", "SET tarn.spj = '"+spj+"'", "-c", q.sql)
	c := child(t, w.args("sql", args...)...)
	sink := &csvSink{check: q.check(w)}
	c.Stdout = sink
	v := verdict{outcome: finish(t, c)}
	v.used = usage()
	if v.wrong = sink.err; v.wrong == nil && v.code == 0 {
		v.wrong = sink.check.end()
	}
	wantEmpty(t, temp)
	t.Logf("exit %d after %.1f s, peak %d of %d MiB %s", v.code, v.took.Seconds(), v.used.PeakBytes>>20, memory>>20, clip(v.stderr))
	return v
}

// wantBounded fails the test unless the question ended well: with the right rows, or for want of memory and saying so, and
// in either case within the limit.
func (v verdict) wantBounded(t *testing.T, memory int) {
	t.Helper()
	switch {
	case v.wrong != nil:
		t.Errorf("wrong rows: %v", v.wrong)
	case v.code != 0 && v.code != 9:
		t.Errorf("exit %d: %s", v.code, clip(v.stderr))
	case v.code == 9 && !strings.Contains(v.stderr, "memory"):
		t.Errorf("exit 9 without the word memory: %s", clip(v.stderr))
	}
	if v.code != 0 {
		wantOneError(t, v.stderr)
	}
	if v.used.PeakBytes == 0 || v.used.PeakBytes > int64(memory) {
		t.Errorf("the peak is %d MiB, the limit %d", v.used.PeakBytes>>20, memory>>20)
	}
}

// TestTenTimesTheMemory runs queries over ten times as many bytes as they may use memory.
func TestTenTimesTheMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes 1.4 GB of disk")
	}
	limits := []int{leastLake / 10}
	if long {
		limits = append(limits, 256*mib, 512*mib)
	}
	for _, memory := range limits {
		lake := wideLake(t, 10*memory)
		for _, q := range questions {
			for _, spj := range []string{"auto", "off"} {
				t.Run(fmt.Sprintf("%d MiB/%s/%s", memory>>20, q.name, spj), func(t *testing.T) {
					v := lake.ask(t, q, spj, memory)
					v.wantBounded(t, memory)
					if v.code != 0 && q.name == questions[0].name && spj == "auto" {
						t.Error("grouping by the layout's key must succeed")
					}
				})
			}
		}
	}
}

// TestEightTimesTheMemory runs the queries that go bucket by bucket and fail for the least memory, with a bit more of it:
// they must succeed.
func TestEightTimesTheMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes 1.4 GB of disk")
	}
	const memory = 160 * mib
	lake := wideLake(t, leastLake)
	for _, q := range questions[1:4] {
		if q.name == "join, all rows out" && !long {
			continue // 1.8 GB of text
		}
		t.Run(q.name, func(t *testing.T) {
			v := lake.ask(t, q, "auto", memory)
			v.wantBounded(t, memory)
			if v.code != 0 {
				t.Errorf("it fails")
			}
		})
	}
}
