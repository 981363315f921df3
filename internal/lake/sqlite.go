package lake

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/fileio"
)

// busyTimeoutMs is how long a statement waits for another process's lock before it fails as Transient. Commits hold the
// lock for milliseconds, so ten seconds outlast a queue of many writers.
const busyTimeoutMs = "10000"

// sqliteFile is a SQL catalog's SQLite file. Reads go through a connection that can't write.
type sqliteFile struct {
	name   string // the catalog's
	path   string // as the configuration spells it
	fio    fileio.Files
	create bool
}

func newSQLiteFile(ctx context.Context, cfg Config, fio fileio.Files) (*sqliteFile, error) {
	path, err := sqlitePath(cfg)
	if err != nil {
		return nil, err
	}
	s := &sqliteFile{name: cfg.Name, path: path, fio: fio, create: cfg.CreateIfMissing}
	if _, err := s.isThere(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// isThere says whether there is such a file.
func (s *sqliteFile) isThere(ctx context.Context) (bool, error) {
	f, err := s.fio.Open(ctx, s.path)
	switch {
	case errs.KindOf(err) == errs.NotFound:
		return false, nil
	case err != nil:
		return false, errs.Wrap(errs.Internal, "open catalog", s.name, err)
	}
	return true, errs.Wrap(errs.Internal, "open catalog", s.path, f.Close())
}

// sqlitePath reads SQLAlchemy's form of the URI, which PyIceberg uses: three slashes before a relative path, four before
// an absolute one.
func sqlitePath(cfg Config) (string, error) {
	scheme, rest, ok := strings.Cut(cfg.URI, "://")
	dialect, _, _ := strings.Cut(scheme, "+")
	switch {
	case ok && dialect == "sqlite":
		rest, _, _ = strings.Cut(strings.TrimPrefix(rest, "/"), "?")
		if rest == "" || rest == ":memory:" {
			return "", errs.New(errs.Invalid, "open catalog", cfg.Name, "the uri %q names no file", cfg.URI)
		}
		return rest, nil
	case ok && dialect != "file":
		return "", errs.New(errs.Unsupported, "open catalog", cfg.Name, "SQL catalogs in %s can't be opened yet, only in SQLite and PostgreSQL", dialect).
			WithHint("uri: sqlite:///relative.db, sqlite:////absolute.db or postgresql://user:password@host/database")
	case cfg.URI == "":
		return "", errs.New(errs.Invalid, "open catalog", cfg.Name, "a sql catalog needs its uri").
			WithHint("uri: sqlite:///relative.db or sqlite:////absolute.db")
	}
	return cfg.URI, nil
}

func (s *sqliteFile) place() string { return s.path }

func (s *sqliteFile) columns() string { return "SELECT name FROM pragma_table_info('iceberg_tables')" }

// dsn returns the driver's name for the file. The path is a part of a URI there, so its special bytes are escaped.
func (s *sqliteFile) dsn(mode string) (string, error) {
	local, err := s.fio.Local(s.path)
	if err != nil {
		return "", err
	}
	abs, err := filepath.Abs(local)
	if err != nil {
		return "", errs.Wrap(errs.Invalid, "open catalog", s.path, err)
	}
	file := url.URL{Scheme: "file", Path: filepath.ToSlash(abs)}
	return file.String() + "?mode=" + mode + "&_pragma=busy_timeout(" + busyTimeoutMs + ")", nil
}

func (s *sqliteFile) connect(ctx context.Context, write bool) (*sql.DB, error) {
	if write {
		return s.open("rw")
	}
	there, err := s.isThere(ctx)
	switch {
	case err != nil:
		return nil, err
	case there:
		return s.open("ro")
	case s.create:
		return nil, nil
	}
	return nil, errs.New(errs.NotFound, "open catalog", s.name, "there is no file %s", s.path).WithHint("CREATE NAMESPACE makes it, if that is where the catalog is to be")
}

// isNew implements sqlBackend. A file without any table is what is left of making one, or what SQLite makes when it is asked to open one.
func (s *sqliteFile) isNew(ctx context.Context) (bool, error) {
	there, err := s.isThere(ctx)
	if err != nil || !there {
		return err == nil, err
	}
	db, err := s.open("ro")
	if err != nil {
		return false, err
	}
	tables, err := strs(ctx, db, "SELECT name FROM sqlite_master LIMIT 1")
	return len(tables) == 0, errors.Join(err, db.Close())
}

// open connects with one connection, since SQLite lets one writer in at a time and a second one would only wait.
func (s *sqliteFile) open(mode string) (*sql.DB, error) {
	dsn, err := s.dsn(mode)
	if err != nil {
		return nil, err
	}
	connector := sqliteConnector{dsn: dsn}
	if mode == "ro" {
		connector.recover = s.recover
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(1)
	return db, nil
}

// recover rolls back what a writer that was killed left half done, which a connection that can't write isn't able to. Where
// this can't write either, the reader's own error stands.
func (s *sqliteFile) recover(ctx context.Context) {
	db, err := s.open("rw")
	if err != nil {
		return
	}
	defer func() { _ = db.Close() }()
	_, _ = strs(ctx, db, s.columns())
}

// prepare makes the file when it is missing: SQLite wouldn't say why it can't. Of a catalog that someone named, a folder that
// isn't there is a slip of the pen.
func (s *sqliteFile) prepare(ctx context.Context) error {
	folder, _ := fileio.Split(s.path)
	if s.create {
		if err := s.fio.MakeFolder(ctx, folder); err != nil {
			return err
		}
	}
	local, err := s.fio.Local(s.path)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(local, os.O_RDWR|os.O_CREATE, 0o666)
	if err == nil {
		err = f.Close()
	}
	return errs.OfFile("create catalog", s.path, err)
}

func (s *sqliteFile) kind(err error) errs.Kind {
	var code *sqlite.Error
	if !errors.As(err, &code) {
		return errs.Internal
	}
	switch code.Code() & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return errs.Transient
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return errs.Corrupt
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_AUTH:
		return errs.Invalid
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_NOMEM:
		return errs.Resource
	}
	return errs.Internal
}

func (s *sqliteFile) isTaken(err error) bool {
	var code *sqlite.Error
	return errors.As(err, &code) && code.Code()&0xff == sqlite3.SQLITE_CONSTRAINT
}

// isUndone is true of a statement that ran into a lock or found no room, which was rolled back, and of one that wasn't let begin.
// Of any other failure SQLite doesn't say whether it came before or after the commit.
func (s *sqliteFile) isUndone(err error) bool {
	var code *sqlite.Error
	isFull := errors.As(err, &code) && code.Code()&0xff == sqlite3.SQLITE_FULL
	kind := s.kind(err)
	return isFull || kind == errs.Transient || kind == errs.Invalid
}

// sqliteConnector opens connections to a file.
type sqliteConnector struct {
	dsn     string
	recover func(context.Context) // of connections that can't write
}

// Connect implements driver.Connector.
func (c sqliteConnector) Connect(context.Context) (driver.Conn, error) {
	conn, err := c.Driver().Open(c.dsn)
	if err != nil || c.recover == nil {
		return conn, err
	}
	return recoveringConn{Conn: conn, recover: c.recover}, nil
}

// Driver implements driver.Connector.
func (c sqliteConnector) Driver() driver.Driver { return &sqlite.Driver{} }

// recoveringConn is a connection for queries alone.
type recoveringConn struct {
	driver.Conn
	recover func(context.Context)
}

// QueryContext implements driver.QueryerContext. A query that needs a half-done write rolled back first is made again.
func (c recoveringConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	queryer := c.Conn.(driver.QueryerContext)
	rows, err := queryer.QueryContext(ctx, query, args)
	var code *sqlite.Error
	if errors.As(err, &code) && code.Code() == sqlite3.SQLITE_READONLY_ROLLBACK {
		c.recover(ctx)
		return queryer.QueryContext(ctx, query, args)
	}
	return rows, err
}
