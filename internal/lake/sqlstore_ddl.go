package lake

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
)

// existsKey is a property that every namespace has in Java's catalogs, so that one without properties has a row.
const existsKey = "exists"

// createNamespace makes the catalog too, where there is none yet: as there is no table without a namespace, it comes first.
func (s *sqlStore) createNamespace(ctx context.Context, namespace catalog.Ident, props map[string]string) (err error) {
	isNew, err := s.back.isNew(ctx)
	if err == nil && isNew {
		err = s.make(ctx)
	}
	if err != nil {
		return err
	}
	db, err := s.write(ctx)
	if err != nil {
		return err
	}
	there, err := s.hasNamespace(ctx, namespace)
	if err != nil {
		return err
	}
	if there {
		return errs.New(errs.Exists, "create namespace", namespace.String(), "it exists already")
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return s.wrap("create namespace", err)
	}
	all := map[string]string{existsKey: "true"}
	maps.Copy(all, props)
	for _, k := range slices.Sorted(maps.Keys(all)) {
		_, err := tx.ExecContext(ctx, `INSERT INTO iceberg_namespace_properties
			(catalog_name, namespace, property_key, property_value) VALUES (?, ?, ?, ?)`,
			s.name, strings.Join(namespace, "."), k, all[k])
		if err != nil {
			return errors.Join(s.wrap("create namespace", err), tx.Rollback())
		}
	}
	return s.wrap("create namespace", tx.Commit())
}

func (s *sqlStore) dropNamespace(ctx context.Context, namespace catalog.Ident) error {
	all, err := s.namespaces(ctx)
	if err != nil {
		return err
	}
	name := strings.Join(namespace, ".")
	there := false
	for _, other := range all {
		full := strings.Join(other, ".")
		there = there || full == name
		if strings.HasPrefix(full, name+".") {
			return notEmpty(namespace)
		}
	}
	if !there {
		return namespaceNotFound(namespace)
	}
	db, err := s.write(ctx)
	if err != nil {
		return err
	}
	// Views count too. A table that is made meanwhile keeps the namespace, since that has no other row then than its own.
	var held int
	const ofNamespace = " FROM iceberg_tables WHERE catalog_name = ?1 AND table_namespace = ?2"
	if err := db.QueryRowContext(ctx, "SELECT count(*)"+ofNamespace, s.name, name).Scan(&held); err != nil {
		return s.wrap("drop namespace", err)
	}
	if held > 0 {
		return notEmpty(namespace)
	}
	_, err = db.ExecContext(ctx, `DELETE FROM iceberg_namespace_properties WHERE catalog_name = ?1 AND namespace = ?2
		AND NOT EXISTS (SELECT 1`+ofNamespace+")", s.name, name)
	return s.wrap("drop namespace", err)
}

func (s *sqlStore) properties(ctx context.Context, namespace catalog.Ident) (found map[string]string, err error) {
	if err := s.needNamespace(ctx, namespace); err != nil {
		return nil, err
	}
	db, err := s.read(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := db.QueryContext(ctx, `SELECT property_key, property_value FROM iceberg_namespace_properties
		WHERE catalog_name = ? AND namespace = ?`, s.name, strings.Join(namespace, "."))
	if err != nil {
		return nil, s.wrap("describe namespace", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	found = map[string]string{}
	for rows.Next() {
		var key, value string
		if err := rows.Scan(&key, &value); err != nil {
			return nil, s.wrap("describe namespace", err)
		}
		if key != existsKey {
			found[key] = value
		}
	}
	return found, s.wrap("describe namespace", rows.Err())
}

func (s *sqlStore) drop(ctx context.Context, id catalog.Ident, base string, _ bool) error {
	db, err := s.write(ctx)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx, cancel := switching(ctx)
	defer cancel()
	namespace, name := key(id)
	result, err := db.ExecContext(ctx, `DELETE FROM iceberg_tables
		WHERE catalog_name = ? AND table_namespace = ? AND table_name = ? AND metadata_location = ?`+s.onlyTables(),
		s.name, namespace, name, base)
	return s.changedOne("drop table", id, result, err, func() error {
		now, err := s.current(ctx, id)
		if err != nil {
			return err
		}
		return movedOn(id, now, base)
	})
}

func (s *sqlStore) rename(ctx context.Context, from, to catalog.Ident) error {
	db, err := s.write(ctx)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx, cancel := switching(ctx)
	defer cancel()
	namespace, name := key(from)
	toNamespace, toName := key(to)
	result, err := db.ExecContext(ctx, `UPDATE iceberg_tables SET table_namespace = ?, table_name = ?
		WHERE catalog_name = ? AND table_namespace = ? AND table_name = ?`+s.onlyTables(),
		toNamespace, toName, s.name, namespace, name)
	if s.back.isTaken(err) {
		return errs.New(errs.Exists, "rename table", from.String(), "there is a table or view %s already", to)
	}
	return s.changedOne("rename table", from, result, err, func() error { return tableNotFound(from) })
}

// changedOne says what a statement that should change one row did; otherwise says why it changed none.
func (s *sqlStore) changedOne(op string, id catalog.Ident, result sql.Result, err error, otherwise func() error) error {
	var changed int64
	if err == nil {
		changed, err = result.RowsAffected()
	}
	switch {
	case err != nil:
		err = s.outcome(id, err)
		if errs.KindOf(err) == errs.CommitUnknown {
			return commitUnknown(op, id, err)
		}
		return err
	case changed == 1:
		return nil
	}
	return otherwise()
}
