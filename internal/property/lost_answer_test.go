package property

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/tarndb/tarn"
	"github.com/tarndb/tarn/internal/errs"
)

// cutter stands between an engine and a PostgreSQL server. When it is armed, the answer to the next statement that changes a row of the
// catalog, which the server has carried out by then, doesn't get through, and the connection is gone.
type cutter struct {
	net.Listener
	server string

	mu                     sync.Mutex
	armed, isDead, wasUsed bool // isDead: nobody gets through, from the cut on
	dies                   bool
	open                   []net.Conn
}

func newCutter(t *testing.T, server string) *cutter {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cutter{Listener: l, server: server}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go c.serve(client)
		}
	}()
	return c
}

func (c *cutter) serve(client net.Conn) {
	defer client.Close()
	c.mu.Lock()
	isDead := c.isDead
	c.mu.Unlock()
	if isDead {
		return
	}
	server, err := net.Dial("tcp", c.server)
	if err != nil {
		return
	}
	defer server.Close()
	c.mu.Lock()
	c.open = append(c.open, client, server)
	c.mu.Unlock()
	go func() {
		_, _ = io.Copy(server, client)
		_ = server.Close()
	}()
	c.answers(client, server)
}

// answers hands the server's answers on, but the one that is to be lost. It is lost once the server says that it is ready for the next statement,
// outside of any transaction: by then it has committed.
func (c *cutter) answers(client, server net.Conn) {
	buf := make([]byte, 64<<10)
	var held []byte
	for {
		n, err := server.Read(buf)
		if err != nil {
			return
		}
		held = append(held, buf[:n]...)
		c.mu.Lock()
		isArmed := c.armed
		changes := bytes.Contains(held, []byte("UPDATE 1\x00")) || bytes.Contains(held, []byte("INSERT 0 1\x00"))
		isCommitted := bytes.HasSuffix(held, []byte("Z\x00\x00\x00\x05I"))
		if isArmed && changes && isCommitted {
			c.armed, c.wasUsed, c.isDead = false, true, c.dies
			if c.dies {
				for _, o := range c.open {
					_ = o.Close()
				}
			}
			c.mu.Unlock()
			return
		}
		c.mu.Unlock()
		if isArmed && changes {
			continue
		}
		if _, err := client.Write(held); err != nil {
			return
		}
		held = held[:0]
	}
}

// TestPostgresLostAnswers is MNT-5 and MNT-6 for each kind of statement: the catalog takes what it makes of the table, and the answer is lost. Where the
// catalog can be asked again, the statement is done. Else its outcome isn't known, no file is removed, and the rows are there once.
func TestPostgresLostAnswers(t *testing.T) {
	uri := os.Getenv("TARN_TEST_POSTGRES")
	if uri == "" {
		t.Skip("no server: TARN_TEST_POSTGRES isn't set; testdata/services/with-postgres starts one")
	}
	parsed, err := url.Parse(uri)
	if err != nil {
		t.Fatal(err)
	}
	c := newCutter(t, parsed.Host)
	parsed.Host = c.Addr().String()
	engine, err := tarn.Open(t.Context(), tarn.Config{Catalogs: []tarn.CatalogConfig{{
		Name: "lost_answers", Type: "sql", URI: parsed.String(), Warehouse: t.TempDir(), CreateIfMissing: true,
	}}, TempDir: t.TempDir(), MemoryBytes: 1 << 30, Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	}()
	s := engine.Session()
	run := func(stmt string) error {
		_, err := s.Exec(t.Context(), stmt)
		return err
	}
	if err := run("CREATE NAMESPACE n"); err != nil {
		t.Fatal(err)
	}
	const merge = "MERGE INTO %t t USING (VALUES (2, 20), (9, 90)) q(k, v) ON t.k = q.k WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
	for i, st := range []struct{ mode, text, want string }{
		{"copy-on-write", "INSERT INTO %t VALUES (4, 4)", "1 1, 2 2, 3 3, 4 4"},
		{"copy-on-write", "INSERT OVERWRITE %t VALUES (4, 4)", "4 4"},
		{"copy-on-write", "CREATE TABLE %tc AS SELECT * FROM %t", "1 1, 2 2, 3 3"},
		{"copy-on-write", "UPDATE %t SET v = v + 1 WHERE k = 2", "1 1, 2 3, 3 3"},
		{"merge-on-read", "UPDATE %t SET v = v + 1 WHERE k = 2", "1 1, 2 3, 3 3"},
		{"copy-on-write", "DELETE FROM %t WHERE k = 2", "1 1, 3 3"},
		{"merge-on-read", "DELETE FROM %t WHERE k = 2", "1 1, 3 3"},
		{"copy-on-write", merge, "1 1, 2 20, 3 3, 9 90"},
		{"merge-on-read", merge, "1 1, 2 20, 3 3, 9 90"},
		{"copy-on-write", "ALTER TABLE %t SET TBLPROPERTIES ('p' = 'q')", "1 1, 2 2, 3 3"},
	} {
		for _, dies := range []bool{false, true} {
			table := fmt.Sprintf("n.t%d_%v", i, dies)
			text := strings.ReplaceAll(st.text, "%t", table)
			before := errors.Join(run("CREATE TABLE "+table+" (k int, v int)"), run("INSERT INTO "+table+" VALUES (1, 1), (2, 2), (3, 3)"), run("SET tarn.row_change_mode = '"+st.mode+"'"))
			if before != nil {
				t.Fatal(before)
			}
			c.mu.Lock()
			c.armed, c.dies, c.wasUsed = true, dies, false
			c.mu.Unlock()
			err := run(text)
			c.mu.Lock()
			wasUsed := c.wasUsed
			c.armed, c.isDead = false, false
			c.mu.Unlock()
			switch {
			case !wasUsed:
				t.Errorf("%s: no answer was lost", text)
			case dies && errs.KindOf(err) != errs.CommitUnknown, !dies && err != nil:
				t.Errorf("%s, %s (the catalog is gone: %v): %v", text, st.mode, dies, err)
			}
			if strings.Contains(st.text, "%tc") {
				table += "c"
			}
			if got := rowsText(t, s, "SELECT k, v FROM "+table+" ORDER BY k"); got != st.want {
				t.Errorf("%s, %s (the catalog is gone: %v): there are %s", text, st.mode, dies, got)
			}
			if err := run("INSERT INTO " + table + " VALUES (100, 100)"); err != nil {
				t.Errorf("%s: the next writer: %v", text, err)
			}
		}
	}
}

func rowsText(t *testing.T, s *tarn.Session, query string) string {
	t.Helper()
	rows, err := s.Query(context.Background(), query)
	if err != nil {
		return err.Error()
	}
	defer rows.Close()
	var out []string
	for {
		b, err := rows.Next(context.Background())
		if errors.Is(err, io.EOF) {
			return strings.Join(out, ", ")
		}
		if err != nil {
			return err.Error()
		}
		for i := range int(b.NumRows()) {
			var cells []string
			for _, col := range b.Columns() {
				cells = append(cells, col.ValueStr(i))
			}
			out = append(out, strings.Join(cells, " "))
		}
	}
}
