package lake

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/google/uuid"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/fileio"
)

// busyTimeoutMs is how long a statement waits for another process's lock before it fails as Transient. Commits hold the
// lock for milliseconds, so ten seconds outlast a queue of many writers.
const busyTimeoutMs = "10000"

// The tables are those of Iceberg's JDBC catalog, version 1, as Java and PyIceberg make them.
const sqliteTables = `
CREATE TABLE IF NOT EXISTS iceberg_tables (
	catalog_name VARCHAR(255) NOT NULL,
	table_namespace VARCHAR(255) NOT NULL,
	table_name VARCHAR(255) NOT NULL,
	metadata_location VARCHAR(1000),
	previous_metadata_location VARCHAR(1000),
	iceberg_type VARCHAR(5),
	PRIMARY KEY (catalog_name, table_namespace, table_name)
);
CREATE TABLE IF NOT EXISTS iceberg_namespace_properties (
	catalog_name VARCHAR(255) NOT NULL,
	namespace VARCHAR(255) NOT NULL,
	property_key VARCHAR(255) NOT NULL,
	property_value VARCHAR(1000) NOT NULL,
	PRIMARY KEY (catalog_name, namespace, property_key)
);`

// sqliteStore is a SQL catalog in a SQLite file. A commit is one UPDATE that holds only if the old metadata file still is
// the current one. Reads go through a connection that can't write.
type sqliteStore struct {
	name   string // catalog_name
	path   string // as the configuration spells it
	fio    fileio.Files
	create bool

	mu       sync.Mutex
	reader   *sql.DB
	writer   *sql.DB
	hasTypes bool // iceberg_tables has the column iceberg_type; known once reader is set
}

func newSQLiteStore(ctx context.Context, cfg Config, fio fileio.Files) (store, error) {
	file, err := sqlitePath(cfg)
	if err != nil {
		return nil, err
	}
	s := &sqliteStore{name: cfg.Name, path: file, fio: fio, create: cfg.CreateIfMissing}
	f, err := fio.Open(ctx, file)
	if errs.KindOf(err) == errs.NotFound && cfg.CreateIfMissing {
		return s, nil
	}
	if err != nil {
		return nil, errs.Wrap(errs.Internal, "open catalog", cfg.Name, err)
	}
	return s, f.Close()
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
		return "", errs.New(errs.Unsupported, "open catalog", cfg.Name, "SQL catalogs in %s can't be opened yet, only in SQLite", dialect).
			WithHint("uri: sqlite:///relative.db or sqlite:////absolute.db")
	case cfg.URI == "":
		return "", errs.New(errs.Invalid, "open catalog", cfg.Name, "a sql catalog needs its uri").
			WithHint("uri: sqlite:///relative.db or sqlite:////absolute.db")
	}
	return cfg.URI, nil
}

// dsn returns the driver's name for the file. The path is a part of a URI there, so its special bytes are escaped.
func (s *sqliteStore) dsn(mode string) (string, error) {
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

// read returns the reading connection, or nil when there is no file yet and the first write may make it.
func (s *sqliteStore) read(ctx context.Context) (*sql.DB, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reader != nil {
		return s.reader, nil
	}
	if f, err := s.fio.Open(ctx, s.path); err == nil {
		if err := f.Close(); err != nil {
			return nil, s.wrap("open catalog", err)
		}
	} else if s.create && errs.KindOf(err) == errs.NotFound {
		return nil, nil
	} else {
		return nil, errs.Wrap(errs.Internal, "open catalog", s.name, err)
	}
	db, err := s.open("ro")
	if err != nil {
		return nil, err
	}
	if err := s.inspect(ctx, db); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	s.reader = db
	return db, nil
}

// inspect finds out whether the file is a catalog, and of which version.
func (s *sqliteStore) inspect(ctx context.Context, db *sql.DB) error {
	columns, err := strs(ctx, db, "SELECT name FROM pragma_table_info('iceberg_tables')")
	if err != nil {
		return s.wrap("open catalog", err)
	}
	if len(columns) == 0 {
		return errs.New(errs.Invalid, "open catalog", s.path, "the SQLite file has no table iceberg_tables, so it is no Iceberg catalog")
	}
	s.hasTypes = slices.Contains(columns, "iceberg_type")
	return nil
}

// write returns the writing connection. It makes the file and its tables where the configuration allows it.
func (s *sqliteStore) write(ctx context.Context) (*sql.DB, error) {
	if err := s.make(ctx); err != nil {
		return nil, err
	}
	if _, err := s.read(ctx); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.writer != nil {
		return s.writer, nil
	}
	db, err := s.open("rw")
	if err != nil {
		return nil, err
	}
	s.writer = db
	return db, nil
}

func (s *sqliteStore) make(ctx context.Context) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.create || s.reader != nil {
		return nil
	}
	folder, _ := fileio.Split(s.path)
	if err := s.fio.MakeFolder(ctx, folder); err != nil {
		return err
	}
	if err := s.touch(); err != nil {
		return err
	}
	db, err := s.open("rw")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	_, err = db.ExecContext(ctx, sqliteTables)
	return s.wrap("create catalog", err)
}

// touch makes the file when it is missing: SQLite wouldn't say why it can't.
func (s *sqliteStore) touch() error {
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

// open connects with one connection, since SQLite lets one writer in at a time and a second one would only wait.
func (s *sqliteStore) open(mode string) (*sql.DB, error) {
	dsn, err := s.dsn(mode)
	if err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, s.wrap("open catalog", err)
	}
	db.SetMaxOpenConns(1)
	return db, nil
}

func (s *sqliteStore) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	for _, db := range []*sql.DB{s.reader, s.writer} {
		if db != nil {
			err = errors.Join(err, db.Close())
		}
	}
	s.reader, s.writer = nil, nil
	return err
}

// key returns how the catalog's columns spell a namespace and a table name.
func key(id catalog.Ident) (namespace, name string) {
	if len(id) == 0 {
		return "", ""
	}
	return strings.Join(id[:len(id)-1], "."), id[len(id)-1]
}

func (s *sqliteStore) namespaces(ctx context.Context) ([]catalog.Ident, error) {
	db, err := s.read(ctx)
	if db == nil || err != nil {
		return nil, err
	}
	names, err := strs(ctx, db, `SELECT table_namespace FROM iceberg_tables WHERE catalog_name = ?1
		UNION SELECT namespace FROM iceberg_namespace_properties WHERE catalog_name = ?1`, s.name)
	if err != nil {
		return nil, s.wrap("list namespaces", err)
	}
	var found []catalog.Ident
	for _, name := range names {
		found = append(found, strings.Split(name, "."))
	}
	sortIdents(found)
	return found, nil
}

func (s *sqliteStore) hasNamespace(ctx context.Context, namespace catalog.Ident) (bool, error) {
	all, err := s.namespaces(ctx)
	if err != nil {
		return false, err
	}
	wanted := strings.Join(namespace, ".")
	return slices.ContainsFunc(all, func(id catalog.Ident) bool { return strings.Join(id, ".") == wanted }), nil
}

func (s *sqliteStore) tables(ctx context.Context, namespace catalog.Ident) ([]catalog.Ident, error) {
	there, err := s.hasNamespace(ctx, namespace)
	if err != nil {
		return nil, err
	}
	if !there {
		return nil, namespaceNotFound(namespace)
	}
	db, err := s.read(ctx)
	if err != nil {
		return nil, err
	}
	names, err := strs(ctx, db, "SELECT table_name FROM iceberg_tables WHERE catalog_name = ? AND table_namespace = ?"+
		s.onlyTables(), s.name, strings.Join(namespace, "."))
	if err != nil {
		return nil, s.wrap("list tables", err)
	}
	var found []catalog.Ident
	for _, name := range names {
		found = append(found, append(slices.Clone(namespace), name))
	}
	sortIdents(found)
	return found, nil
}

// onlyTables leaves views out. Catalogs of version 0 have tables only, and no column that says so.
func (s *sqliteStore) onlyTables() string {
	if s.hasTypes {
		return " AND (iceberg_type = 'TABLE' OR iceberg_type IS NULL)"
	}
	return ""
}

func (s *sqliteStore) current(ctx context.Context, id catalog.Ident) (string, error) {
	db, err := s.read(ctx)
	if err != nil {
		return "", err
	}
	if db == nil {
		return "", tableNotFound(id)
	}
	namespace, name := key(id)
	const from = " FROM iceberg_tables WHERE catalog_name = ? AND table_namespace = ? AND table_name = ?"
	kind := "'TABLE'"
	if s.hasTypes {
		kind = "coalesce(iceberg_type, 'TABLE')"
	}
	var location sql.NullString
	err = db.QueryRowContext(ctx, "SELECT metadata_location, "+kind+from, s.name, namespace, name).Scan(&location, &kind)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return "", tableNotFound(id)
	case err != nil:
		return "", s.wrap("load table", err)
	case kind != "TABLE":
		return "", errs.New(errs.Unsupported, "load table", id.String(), "it is a %s; only tables can be read", strings.ToLower(kind))
	case location.String == "":
		return "", errs.New(errs.Corrupt, "load table", id.String(), "the catalog %s has no metadata_location for it", s.path)
	}
	return location.String, nil
}

func (s *sqliteStore) publish(ctx context.Context, id catalog.Ident, base string, next draft) (string, error) {
	db, err := s.write(ctx)
	if err != nil {
		return "", err
	}
	location := fileio.Under(next.folder, nextMetadataName(base)+next.suffix())
	err = s.fio.Create(ctx, location, next.body)
	if err == nil {
		err = ctx.Err()
	}
	ctx = context.WithoutCancel(ctx)
	if err == nil {
		err = s.point(ctx, db, id, base, location)
	}
	if err != nil && errs.KindOf(err) != errs.CommitUnknown {
		// A file that can't be removed is an orphan, which does no harm; the reason of the failure says more.
		_ = s.fio.Remove(ctx, location)
	}
	return location, err
}

// point makes the catalog's row name location, if it still names base.
func (s *sqliteStore) point(ctx context.Context, db *sql.DB, id catalog.Ident, base, location string) error {
	namespace, name := key(id)
	var result sql.Result
	var err error
	if base == "" {
		columns, values := "", ""
		if s.hasTypes {
			columns, values = ", iceberg_type", ", 'TABLE'"
		}
		result, err = db.ExecContext(ctx, `INSERT INTO iceberg_tables
			(catalog_name, table_namespace, table_name, metadata_location, previous_metadata_location`+columns+`)
			VALUES (?, ?, ?, ?, NULL`+values+`) ON CONFLICT DO NOTHING`, s.name, namespace, name, location)
	} else {
		result, err = db.ExecContext(ctx, `UPDATE iceberg_tables SET metadata_location = ?, previous_metadata_location = ?
			WHERE catalog_name = ? AND table_namespace = ? AND table_name = ? AND metadata_location = ?`+s.onlyTables(),
			location, base, s.name, namespace, name, base)
	}
	if err != nil {
		return s.outcome(id, err)
	}
	if changed, err := result.RowsAffected(); err != nil {
		return s.outcome(id, err)
	} else if changed == 1 {
		return nil
	}
	return s.beaten(ctx, id, base, location)
}

// outcome says what a failed statement means. One that ran into a lock was rolled back and changed nothing; of any other
// failure SQLite doesn't say whether it came before or after the commit.
func (s *sqliteStore) outcome(id catalog.Ident, err error) error {
	err = s.wrap("commit", err)
	if errs.KindOf(err) == errs.Transient {
		return errs.New(errs.Conflict, "commit", id.String(), "the catalog %s is locked by other writers", s.path)
	}
	return &errs.Error{Kind: errs.CommitUnknown, Op: "commit", Object: id.String(), Err: err}
}

// beaten says why a statement changed no row. The driver may have repeated it after a lost connection, so the row that
// stopped the second one can be our own.
func (s *sqliteStore) beaten(ctx context.Context, id catalog.Ident, base, location string) error {
	now, err := s.current(ctx, id)
	switch {
	case errs.KindOf(err) == errs.NotFound:
		return errs.New(errs.NotFound, "commit", id.String(), "the table was dropped meanwhile")
	case err != nil:
		return &errs.Error{Kind: errs.CommitUnknown, Op: "commit", Object: id.String(), Err: err}
	case now == location:
		return nil
	case base == "":
		return tableExists(id)
	}
	return errs.New(errs.Conflict, "commit", id.String(), "the table is at %s by now, not at %s", now, base)
}

// wrap gives a driver's error a kind and names the file.
func (s *sqliteStore) wrap(op string, err error) error {
	var code *sqlite.Error
	if !errors.As(err, &code) {
		return errs.Wrap(errs.Internal, op, s.path, err)
	}
	switch code.Code() & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return errs.Wrap(errs.Transient, op, s.path, err)
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return errs.Wrap(errs.Corrupt, op, s.path, err)
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_AUTH:
		return errs.Wrap(errs.Invalid, op, s.path, err)
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_NOMEM:
		return errs.Wrap(errs.Resource, op, s.path, err)
	}
	return errs.Wrap(errs.Internal, op, s.path, err)
}

// nextMetadataName numbers metadata files as Java and PyIceberg do: 00003-UUID after 00002-UUID.
func nextMetadataName(base string) string {
	number := 0
	if base != "" {
		number = metadataNumber(base) + 1
	}
	return fmt.Sprintf("%05d-%s", number, uuid.NewString())
}

func strs(ctx context.Context, db *sql.DB, query string, args ...any) (found []string, err error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return nil, err
		}
		found = append(found, s)
	}
	return found, rows.Err()
}
