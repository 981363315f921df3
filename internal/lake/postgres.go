package lake

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/tarndb/tarn/internal/errs"
)

// postgres is a SQL catalog's PostgreSQL database.
type postgres struct {
	url    string // without the password
	config *pgx.ConnConfig
}

// postgresDSN returns the URI of a PostgreSQL database as its own tools spell it: SQLAlchemy adds the driver's name to the
// scheme, and Java begins with jdbc.
func postgresDSN(uri string) (string, bool) {
	scheme, rest, ok := strings.Cut(strings.TrimPrefix(uri, "jdbc:"), "://")
	dialect, _, _ := strings.Cut(scheme, "+")
	return "postgres://" + rest, ok && (dialect == "postgres" || dialect == "postgresql")
}

func newPostgres(name, dsn string) (*postgres, error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		// The driver's own error shows the URI, and it may have a password in a place that isn't known to be one.
		return nil, errs.New(errs.Invalid, "open catalog", name, "the uri isn't one of a PostgreSQL database").
			WithHint("uri: postgresql://user:password@host:5432/database")
	}
	place := url.URL{Scheme: "postgresql", User: url.User(config.User), Host: fmt.Sprintf("%s:%d", config.Host, config.Port), Path: config.Database}
	return &postgres{url: place.String(), config: config}, nil
}

func (p *postgres) place() string { return p.url }

func (p *postgres) columns() string {
	return "SELECT column_name FROM information_schema.columns WHERE table_name = 'iceberg_tables' AND table_schema = ANY (current_schemas(false))"
}

// connect opens a pool of connections, which are made when they are needed.
func (p *postgres) connect(context.Context, bool) (*sql.DB, error) {
	db := sql.OpenDB(postgresConnector{stdlib.GetConnector(*p.config)})
	db.SetMaxOpenConns(4) // a writer needs one, and servers have few
	return db, nil
}

// isNew implements sqlBackend. What lies in a database on a server is its administrator's to decide.
func (p *postgres) isNew(context.Context) (bool, error) { return false, nil }

// prepare makes nothing: a database is its administrator's to make.
func (p *postgres) prepare(context.Context) error { return nil }

func (p *postgres) kind(err error) errs.Kind {
	var told *pgconn.PgError
	var unconnected *pgconn.ConnectError
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return errs.KindOf(err)
	case errors.As(err, &told):
		return postgresKind(told.Code)
	case errors.As(err, &unconnected), pgconn.Timeout(err), pgconn.SafeToRetry(err):
		return errs.Transient
	}
	return errs.Internal
}

// postgresKind is the kind of an error that the server tells, by the class of its code (PostgreSQL's appendix A).
func postgresKind(code string) errs.Kind {
	switch class := code[:min(len(code), 2)]; class {
	case "40", "55", "57", "08": // rolled back for another's sake, locked, stopped, disconnected
		return errs.Transient
	case "53", "54":
		return errs.Resource
	case "28", "42", "3D", "25": // rights, names, no such database, read-only
		return errs.Invalid
	}
	return errs.Internal
}

func (p *postgres) isTaken(err error) bool {
	var told *pgconn.PgError
	taken := []string{"23505", "42P07", "42710"} // unique_violation, duplicate_table, duplicate_object
	return errors.As(err, &told) && slices.Contains(taken, told.Code)
}

// isUndone is true of statements that never reached the server, and of those that it says it didn't carry out. When it stops,
// it may have carried out the last one.
func (p *postgres) isUndone(err error) bool {
	var told *pgconn.PgError
	if errors.As(err, &told) {
		class := told.Code[:min(len(told.Code), 2)]
		return class != "57" && class != "08" && class != "XX"
	}
	return pgconn.SafeToRetry(err)
}

// postgresConnector opens connections that understand ? for parameters.
type postgresConnector struct{ driver.Connector }

// Connect implements driver.Connector.
func (c postgresConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return postgresConn{conn.(*stdlib.Conn)}, nil
}

type postgresConn struct{ *stdlib.Conn }

// Prepare implements driver.Conn.
func (c postgresConn) Prepare(query string) (driver.Stmt, error) {
	return c.Conn.Prepare(numbered(query))
}

// PrepareContext implements driver.ConnPrepareContext.
func (c postgresConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	return c.Conn.PrepareContext(ctx, numbered(query))
}

// QueryContext implements driver.QueryerContext.
func (c postgresConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	return c.Conn.QueryContext(ctx, numbered(query), args)
}

// ExecContext implements driver.ExecerContext.
func (c postgresConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	return c.Conn.ExecContext(ctx, numbered(query), args)
}

// numbered writes the parameters ?1 and ? of our statements, none of which has a question mark elsewhere, as $1: of those without
// a number each is the next one.
func numbered(query string) string {
	var b strings.Builder
	for n := 1; ; n++ {
		before, after, found := strings.Cut(query, "?")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		b.WriteByte('$')
		if after == "" || after[0] < '0' || after[0] > '9' {
			b.WriteString(strconv.Itoa(n))
		}
		query = after
	}
}
