package lake

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/fileio"
)

// The tables are those of Iceberg's JDBC catalog, version 1, as Java and PyIceberg make them.
var sqlTables = []string{`
CREATE TABLE IF NOT EXISTS iceberg_tables (
	catalog_name VARCHAR(255) NOT NULL,
	table_namespace VARCHAR(255) NOT NULL,
	table_name VARCHAR(255) NOT NULL,
	metadata_location VARCHAR(1000),
	previous_metadata_location VARCHAR(1000),
	iceberg_type VARCHAR(5),
	PRIMARY KEY (catalog_name, table_namespace, table_name)
)`, `
CREATE TABLE IF NOT EXISTS iceberg_namespace_properties (
	catalog_name VARCHAR(255) NOT NULL,
	namespace VARCHAR(255) NOT NULL,
	property_key VARCHAR(255) NOT NULL,
	property_value VARCHAR(1000) NOT NULL,
	PRIMARY KEY (catalog_name, namespace, property_key)
)`}

// sqlBackend is the database of a SQL catalog. All of them understand the same statements, with ? for parameters.
type sqlBackend interface {
	// place names the database for people, without its secrets.
	place() string
	// connect returns a connection for reading, or for writing too. For reading it is nil where the database isn't there yet and
	// may be made.
	connect(ctx context.Context, write bool) (*sql.DB, error)
	// isNew says whether there is no database yet, or one with nothing in it, and the first namespace may make a catalog of it.
	isNew(ctx context.Context) (bool, error)
	// prepare makes the database, but for its tables, where it is missing.
	prepare(ctx context.Context) error
	// columns is a query for the names of the columns of iceberg_tables.
	columns() string
	// kind returns what sort of thing went wrong; Internal where it can't tell.
	kind(err error) errs.Kind
	// isTaken says whether a statement failed since the row or table that it makes is there already.
	isTaken(err error) bool
	// isUndone says whether a failed statement surely changed nothing.
	isUndone(err error) bool
}

// sqlStore is a SQL catalog. A commit is one UPDATE that holds only if the old metadata file still is the current one.
type sqlStore struct {
	name   string // catalog_name
	fio    fileio.Files
	back   sqlBackend
	create bool

	mu       sync.Mutex
	reader   *sql.DB
	writer   *sql.DB
	hasTypes bool // iceberg_tables has the column iceberg_type; known once reader is set
}

// newSQLStore opens a SQL catalog by the scheme of its URI: a SQLite file, or a PostgreSQL database.
func newSQLStore(ctx context.Context, cfg Config, fio fileio.Files) (store, error) {
	s := &sqlStore{name: cfg.Name, fio: fio, create: cfg.CreateIfMissing}
	var err error
	if dsn, ok := postgresDSN(cfg.URI); ok {
		s.back, err = newPostgres(cfg.Name, dsn)
	} else {
		s.back, err = newSQLiteFile(ctx, cfg, fio)
	}
	return s, err
}

// read returns the reading connection, or nil when there is no catalog yet and the first write may make it.
func (s *sqlStore) read(ctx context.Context) (*sql.DB, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reader != nil {
		return s.reader, nil
	}
	db, err := s.back.connect(ctx, false)
	if db == nil || err != nil {
		return nil, err
	}
	columns, err := strs(ctx, db, s.back.columns())
	switch {
	case err != nil:
		return nil, errors.Join(s.wrap("open catalog", err), db.Close())
	case len(columns) == 0 && s.create:
		return nil, s.wrap("open catalog", db.Close())
	case len(columns) == 0:
		err := errs.New(errs.Invalid, "open catalog", s.back.place(), "it has no table iceberg_tables, so it is no Iceberg catalog")
		return nil, errors.Join(err, db.Close())
	}
	s.hasTypes = slices.Contains(columns, "iceberg_type")
	s.reader = db
	return db, nil
}

// write returns the writing connection. It makes the database and its tables where the configuration says so.
func (s *sqlStore) write(ctx context.Context) (*sql.DB, error) {
	if s.create {
		if err := s.make(ctx); err != nil {
			return nil, err
		}
	}
	if _, err := s.read(ctx); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.writer != nil {
		return s.writer, nil
	}
	db, err := s.back.connect(ctx, true)
	if err != nil {
		return nil, err
	}
	s.writer = db
	return db, nil
}

// make makes the database and its tables where it isn't open yet.
func (s *sqlStore) make(ctx context.Context) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reader != nil {
		return nil
	}
	if err := s.back.prepare(ctx); err != nil {
		return err
	}
	db, err := s.back.connect(ctx, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	// Of two that make a table at the same time PostgreSQL fails the one that waited for the other, IF NOT EXISTS or not. Another
	// engine may make one table at a time, so each table can be lost once.
	for range sqlTables {
		if err = makeTables(ctx, db); !s.back.isTaken(err) {
			return s.wrap("create catalog", err)
		}
	}
	return s.wrap("create catalog", makeTables(ctx, db))
}

// makeTables makes all tables of a SQL catalog that are missing, or none.
func makeTables(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	for _, text := range sqlTables {
		if _, err := tx.ExecContext(ctx, text); err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
	return tx.Commit()
}

func (s *sqlStore) close() error {
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

// wrap gives a driver's error a kind and names the database.
func (s *sqlStore) wrap(op string, err error) error {
	return errs.Wrap(s.back.kind(err), op, s.back.place(), err)
}

// key returns how the catalog's columns spell a namespace and a table name.
func key(id catalog.Ident) (namespace, name string) {
	if len(id) == 0 {
		return "", ""
	}
	return strings.Join(id[:len(id)-1], "."), id[len(id)-1]
}

func (s *sqlStore) namespaces(ctx context.Context) ([]catalog.Ident, error) {
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

func (s *sqlStore) hasNamespace(ctx context.Context, namespace catalog.Ident) (bool, error) {
	all, err := s.namespaces(ctx)
	if err != nil {
		return false, err
	}
	wanted := strings.Join(namespace, ".")
	return slices.ContainsFunc(all, func(id catalog.Ident) bool { return strings.Join(id, ".") == wanted }), nil
}

// needNamespace fails with NotFound where there is no such namespace.
func (s *sqlStore) needNamespace(ctx context.Context, namespace catalog.Ident) error {
	there, err := s.hasNamespace(ctx, namespace)
	if err == nil && !there {
		err = namespaceNotFound(namespace)
	}
	return err
}

func (s *sqlStore) tables(ctx context.Context, namespace catalog.Ident) ([]catalog.Ident, error) {
	if err := s.needNamespace(ctx, namespace); err != nil {
		return nil, err
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
func (s *sqlStore) onlyTables() string {
	if s.hasTypes {
		return " AND (iceberg_type = 'TABLE' OR iceberg_type IS NULL)"
	}
	return ""
}

func (s *sqlStore) current(ctx context.Context, id catalog.Ident) (string, error) {
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
		return "", errs.New(errs.Corrupt, "load table", id.String(), "the catalog %s has no metadata_location for it", s.back.place())
	}
	return location.String, nil
}

// switchTimeout is how long the database may take to say that it has made a version the current one. After that the outcome is
// unknown, which is better than waiting for a server that is gone.
const switchTimeout = time.Minute

// switching returns the ctx of the statement that changes what the catalog says of a table. An interruption would leave its
// outcome open, so ctx doesn't interrupt it.
func switching(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), switchTimeout)
}

func (s *sqlStore) publish(ctx context.Context, id catalog.Ident, base string, next draft) (string, error) {
	db, err := s.write(ctx)
	if err != nil {
		return "", err
	}
	location := fileio.Under(next.folder, nextMetadataName(base)+next.suffix())
	err = s.fio.Create(ctx, location, next.body)
	if err == nil {
		err = ctx.Err()
	}
	ctx, cancel := switching(ctx)
	defer cancel()
	if err == nil {
		err = s.point(ctx, db, id, base, location)
	}
	if err != nil && errs.KindOf(err) != errs.CommitUnknown {
		// A file that can't be removed is an orphan, which does no harm; the reason of the failure says more.
		_ = s.fio.Remove(context.WithoutCancel(ctx), location)
	}
	return location, err
}

// point makes the catalog's row name location, if it still names base.
func (s *sqlStore) point(ctx context.Context, db *sql.DB, id catalog.Ident, base, location string) error {
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

// outcome says what a failed statement means: where it can't have changed anything it is a Conflict if other writers' locks were
// in its way, and else a failure. Where that isn't sure the outcome is CommitUnknown.
func (s *sqlStore) outcome(id catalog.Ident, err error) error {
	undone := s.back.isUndone(err)
	err = s.wrap("commit", err)
	switch {
	case !undone:
		return commitUnknown("commit", id, err)
	case errs.KindOf(err) == errs.Transient:
		return errs.New(errs.Conflict, "commit", id.String(), "the catalog %s is locked by other writers", s.back.place())
	}
	return err
}

// beaten says why a statement changed no row. The driver may have repeated it after a lost connection, so the row that
// stopped the second one can be our own, or that of a writer who came after us.
func (s *sqlStore) beaten(ctx context.Context, id catalog.Ident, base, location string) error {
	now, err := s.current(ctx, id)
	switch {
	case errs.KindOf(err) == errs.NotFound:
		return errs.New(errs.NotFound, "commit", id.String(), "the table was dropped meanwhile")
	case base == "" && errs.KindOf(err) == errs.Unsupported:
		return errs.New(errs.Exists, "create table", id.String(), "a view has that name")
	case err != nil:
		return commitUnknown("commit", id, err)
	}
	landed, err := isVersion(ctx, s.fio, location, now)
	switch {
	case err != nil:
		return commitUnknown("commit", id, err)
	case landed:
		return nil
	case base == "":
		return tableExists(id)
	}
	return errs.New(errs.Conflict, "commit", id.String(), "the table is at %s by now, not at %s", now, base)
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
