package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/meter"
	"github.com/tarndb/tarn/internal/output"
)

func main() {
	threads := flag.Int("threads", 0, "threads (default: one for each core)")
	usage := flag.String("usage", "", "at the end write the process's CPU time and peak memory to this file, as JSON")
	flag.Parse()
	err := run(context.Background(), *threads)
	if err == nil && *usage != "" {
		err = meter.Write(*usage)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "duckdb:", err)
		os.Exit(1)
	}
}

// ownSettings undo what package duck sets other than DuckDB does.
const ownSettings = "SET enable_external_file_cache = true; SET preserve_insertion_order = true"

func run(ctx context.Context, threads int) error {
	query, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	db, err := duck.Open(ctx, duck.Options{Threads: threads})
	if err != nil {
		return err
	}
	defer db.Close()
	conn, err := db.Connect()
	if err != nil {
		return err
	}
	defer conn.Close()
	statements := strings.Split(strings.TrimSpace(string(query)), ";\n")
	last := len(statements) - 1
	for _, text := range append([]string{ownSettings}, statements[:last]...) {
		if err := conn.Exec(ctx, text); err != nil {
			return err
		}
	}
	res, err := conn.Query(ctx, statements[last])
	if err != nil {
		return err
	}
	defer res.Close()
	w, err := output.New(output.CSV, os.Stdout, output.Options{})
	if err != nil {
		return err
	}
	return errors.Join(write(ctx, res, w), w.Close())
}

func write(ctx context.Context, res *duck.Result, w output.Writer) error {
	var columns []output.Column
	for _, c := range res.Columns() {
		columns = append(columns, output.Column{Name: c.Name, Type: c.Type})
	}
	if err := w.Begin(columns); err != nil {
		return err
	}
	for {
		chunk, err := res.Next(ctx)
		if errors.Is(err, io.EOF) {
			return w.End()
		}
		if err != nil {
			return err
		}
		batch, err := chunk.Record()
		chunk.Close()
		if err != nil {
			return err
		}
		err = w.Write(batch)
		batch.Release()
		if err != nil {
			return err
		}
	}
}
