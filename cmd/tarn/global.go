package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/tarndb/tarn"
	"github.com/tarndb/tarn/internal/config"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/settings"
)

// globalFlags are the flags of all commands.
type globalFlags struct {
	config, catalog, typ, uri, warehouse string
	relocate                             []string
	memory, temp, format, output, usage  string
	threads                              int
	quiet                                bool
}

func (f *globalFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.config, "config", "", "read the catalogs from `FILE` (default: $TARN_CONFIG, tarn.yaml, .pyiceberg.yaml)")
	flags.StringVar(&f.catalog, "catalog", "", "use the catalog `NAME` for names without one")
	flags.StringVar(&f.typ, "type", "", "catalog `TYPE`: hadoop or sql")
	flags.StringVar(&f.uri, "uri", "", "`URI` of the catalog")
	flags.StringVar(&f.warehouse, "warehouse", "", "`PATH` or URI of the catalog's warehouse")
	flags.StringArrayVar(&f.relocate, "relocate", nil, "read paths that start with FROM at TO, as `FROM=TO`; repeatable")
	flags.StringVar(&f.memory, "memory", "", "memory to use, as `SIZE` such as 4GiB (default: 80 % of the machine's)")
	flags.IntVar(&f.threads, "threads", 0, "`N` threads (default: one for each core)")
	flags.StringVar(&f.temp, "temp", "", "spill to a folder below `DIR` (default: the system's)")
	flags.StringVar(&f.format, "format", "", "`FORMAT` of results: table, csv, json, jsonl, markdown, parquet, arrow")
	flags.StringVarP(&f.output, "output", "o", "", "write results to `FILE` (default: standard output)")
	flags.StringVar(&f.usage, "usage", "", "at the end write the process's CPU time and peak memory to `FILE`, as JSON")
	flags.BoolVar(&f.quiet, "quiet", false, "no notices and no progress")
}

// loadConfig finds the catalogs and passes on what there is to say about them.
func (a *app) loadConfig() (*config.Config, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, errs.Wrap(errs.Invalid, "find working folder", "", err)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		home = "" // a process without a home has no files there
	}
	c, err := config.Load(config.Request{
		File: a.flags.config, Catalog: a.flags.catalog, Type: a.flags.typ, URI: a.flags.uri, Warehouse: a.flags.warehouse,
		Environ: os.Environ(), Dir: dir, Home: home,
	})
	if err != nil {
		return nil, err
	}
	for _, n := range c.Notices {
		a.notice(n)
	}
	return c, nil
}

// open opens the engine by the flags. The caller closes it.
func (a *app) open(ctx context.Context) (*tarn.Engine, error) {
	found, err := a.loadConfig()
	if err != nil {
		return nil, err
	}
	cfg := tarn.Config{DefaultCatalog: found.Default.Text, Notice: a.notice}
	for _, c := range found.Catalogs {
		cfg.Catalogs = append(cfg.Catalogs, tarn.CatalogConfig{
			Name: c.Name, Type: c.Get(config.KeyType), URI: c.Get(config.KeyURI),
			Warehouse: c.Get(config.KeyWarehouse), Properties: c.Properties(), CreateIfMissing: found.Embedded,
		})
	}
	if cfg.Relocate, err = relocations(a.flags.relocate); err != nil {
		return nil, err
	}
	if cfg.MemoryBytes, err = a.memoryBytes(); err != nil {
		return nil, err
	}
	if cfg.Threads, err = a.threads(); err != nil {
		return nil, err
	}
	if cfg.TempDir, err = a.tempDir(); err != nil {
		return nil, err
	}
	return tarn.Open(ctx, cfg)
}

// threads returns the number of threads; 0 for one per core.
func (a *app) threads() (int, error) {
	n := a.flags.threads
	if n < 0 || n > settings.MaxThreads {
		return 0, errs.New(errs.Syntax, "", "--threads", "%d is not a number of threads: want 1 to %d", n, settings.MaxThreads)
	}
	return n, nil
}

func (a *app) memoryBytes() (int64, error) {
	if a.flags.memory == "" {
		return settings.DefaultMemory(), nil
	}
	n, err := settings.ParseBytes(a.flags.memory)
	if err != nil {
		return 0, errs.New(errs.Syntax, "", "--memory", "%s", err)
	}
	if n < settings.MinMemory {
		return 0, errs.New(errs.Syntax, "", "--memory", "the program needs at least %s, and %s is less",
			settings.FormatBytes(settings.MinMemory), a.flags.memory)
	}
	return n, nil
}

func relocations(texts []string) ([]tarn.Relocation, error) {
	var out []tarn.Relocation
	for _, text := range texts {
		from, to, ok := strings.Cut(text, "=")
		if !ok || from == "" || to == "" {
			return nil, errs.New(errs.Syntax, "", "--relocate", "%q is not FROM=TO", text)
		}
		out = append(out, tarn.Relocation{From: from, To: to})
	}
	return out, nil
}

// notice tells a person something beside the result.
func (a *app) notice(text string) {
	if !a.flags.quiet {
		_, _ = fmt.Fprintln(a.stderr, "note:", oneLine(text))
	}
}
