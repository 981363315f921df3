package tarn_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/tarndb/tarn"
)

// shop opens the golden warehouse, whose metadata says that it lies in /warehouse.
func shop() tarn.Config {
	const folder = "testdata/golden/warehouse"
	return tarn.Config{
		Catalogs: []tarn.CatalogConfig{{Name: "files", Type: "hadoop", Warehouse: folder}},
		Relocate: []tarn.Relocation{{From: "/warehouse", To: folder}},
	}
}

func ExampleSession_Query() {
	ctx := context.Background()
	engine, err := tarn.Open(ctx, shop())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close()
	rows, err := engine.Session().Query(ctx, `SELECT c.name, count(*) AS orders
		FROM shop.orders o JOIN shop.customers c USING (customer_id)
		WHERE c.customer_id = ? GROUP BY ALL`, 12)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer rows.Close()
	for {
		batch, err := rows.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(batch.Column(0).ValueStr(0), batch.Column(1).ValueStr(0))
		batch.Release()
	}
	// Output: name-12 7
}

func TestExplainSaysWhy(t *testing.T) {
	ctx := context.Background()
	engine, err := tarn.Open(ctx, shop())
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	text, err := engine.Session().Explain(ctx, "SELECT * FROM mix.b7 a JOIN mix.b16 b ON a.id = b.id", tarn.ExplainOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"strategy=hash", "bucket(7, id) of mix.b7", "bucket(16, id) of mix.b16", "ALTER TABLE mix.b7"} {
		if !strings.Contains(text, want) {
			t.Errorf("the plan doesn't say %q:\n%s", want, text)
		}
	}
}

func TestExecCounts(t *testing.T) {
	ctx := context.Background()
	engine, err := tarn.Open(ctx, shop())
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	got, err := engine.Session().Exec(ctx, "SELECT o.order_id FROM shop.orders o JOIN shop.customers c USING (customer_id)")
	if err != nil {
		t.Fatal(err)
	}
	if got.Groups != 14 || got.FilesDropped != 3 || got.Files != 57 || got.Rows != 157 || got.BytesNotShuffled == 0 {
		t.Errorf("counters are %+v", got)
	}
}

func TestArguments(t *testing.T) {
	ctx := context.Background()
	engine, err := tarn.Open(ctx, shop())
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	s := engine.Session()
	for _, arg := range []any{"it's", int64(1) << 40, 2.5, true, nil, []byte{0, 0xff}} {
		if got, err := s.Exec(ctx, "SELECT $1 AS x WHERE $1 IS NOT DISTINCT FROM $1", arg); err != nil || got.Rows != 1 {
			t.Errorf("%v: %d rows, error %v", arg, got.Rows, err)
		}
	}
	var e *tarn.Error
	if _, err := s.Exec(ctx, "SELECT ?, ?", 1); !errors.As(err, &e) {
		t.Errorf("a missing argument gives %v", err)
	}
	if _, err := s.Exec(ctx, "SELECT ?", struct{}{}); !errors.As(err, &e) {
		t.Errorf("a struct as an argument gives %v", err)
	}
}

// TestOneMoment: all readings of the clock in a statement are of one moment, by whatever name they are called.
func TestOneMoment(t *testing.T) {
	engine, err := tarn.Open(t.Context(), shop())
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	s := engine.Session()
	got := rowsOf(t, s, `SELECT now() = current_timestamp, get_current_timestamp() = transaction_timestamp(), CAST(now() AS TIMESTAMP) = localtimestamp,
		CAST(now() AS DATE) = current_date, today() = current_date, CAST(localtimestamp AS TIME) = localtime, current_time = get_current_time()`)
	if fmt.Sprint(got) != "[true | true | true | true | true | true | true]" {
		t.Errorf("they are of several: %v", got)
	}
	if first, second := rowsOf(t, s, "SELECT epoch_us(now())"), rowsOf(t, s, "SELECT epoch_us(now())"); fmt.Sprint(first) == fmt.Sprint(second) {
		t.Errorf("two statements are told one moment, %v", first)
	}
}
