package settings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarndb/tarn/internal/errs"
)

func newSet(t *testing.T, defaults map[string]string) *Set {
	t.Helper()
	s, err := New(defaults)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestDefaultsAreReadable(t *testing.T) {
	s := newSet(t, nil)
	if s.SPJ() != SPJAuto || s.PackBytes() != 2<<20 || !s.VerifyLayout() || s.Threads() != 0 || s.MemoryBytes() != 0 {
		t.Errorf("defaults are %+v", s.List())
	}
	for _, e := range s.List() {
		if e.Changed || e.Value != e.Default || e.Meaning == "" || e.Bounds == "" || e.Type == "" {
			t.Errorf("%s isn't complete: %+v", e.Name, e)
		}
		if _, err := s.Set(e.Name, e.Value); err != nil {
			t.Errorf("the shown value of %s can't be set: %v", e.Name, err)
		}
	}
}

func TestSetGetReset(t *testing.T) {
	s := newSet(t, map[string]string{"tarn.threads": "3"})
	for _, c := range []struct{ name, set, get string }{
		{"tarn.spj", "OFF", "off"},
		{"TARN.SPJ", "require", "require"},
		{"tarn.pack_bytes", "0", "0"},
		{"tarn.pack_bytes", "1.5 GiB", "1536MiB"},
		{"tarn.pack_bytes", "1000", "1000B"},
		{"tarn.verify_layout", "false", "off"},
		{"tarn.threads", " 2 ", "2"},
		{"tarn.memory", "4GiB", "4GiB"},
		{"tarn.memory", "0", "0"},
	} {
		if notice, err := s.Set(c.name, c.set); err != nil || notice != "" {
			t.Errorf("SET %s = %q: notice %q, error %v", c.name, c.set, notice, err)
		}
		if got, err := s.Get(c.name); err != nil || got != c.get {
			t.Errorf("after SET %s = %q it is %q (%v), want %q", c.name, c.set, got, err, c.get)
		}
	}
	before := s.Clone()
	if err := s.Reset("tarn.threads"); err != nil || s.Threads() != 3 {
		t.Errorf("RESET gives %d threads (%v), want the engine's 3", s.Threads(), err)
	}
	s.ResetAll()
	if s.SPJ() != SPJAuto || before.SPJ() != SPJRequire || before.Threads() != 2 {
		t.Error("ResetAll must reset this set and leave its clone alone")
	}
}

func TestRefusals(t *testing.T) {
	s := newSet(t, nil)
	for _, c := range []struct {
		name, value string
		kind        errs.Kind
		text, hint  string
	}{
		{"tarn.spj", "maybe", errs.Invalid, `set tarn.spj: "maybe" is not one of auto, require, off`, ""},
		{"tarn.threads", "0x2", errs.Invalid, "whole number from 0 to 1024", ""},
		{"tarn.threads", "1025", errs.Invalid, "whole number from 0 to 1024", ""},
		{"tarn.memory", "1MiB", errs.Invalid, "128MiB to 1024TiB", ""},
		{"tarn.memory", "lots", errs.Invalid, "is not a size", ""},
		{"tarn.pack_bytes", "-1", errs.Invalid, "is not a size", ""},
		{"tarn.pack_bytes", "9999999999999TiB", errs.Invalid, "too large", ""},
		{"tarn.verify_layout", "perhaps", errs.Invalid, "not one of on, off", ""},
		{"tarn.pack_byte", "1", errs.NotFound, "no such setting", "did you mean tarn.pack_bytes?"},
		{"memory_limit", "1", errs.NotFound, "no such setting", "SHOW SETTINGS"},
		{"spark.sql.session.timeZone", "Europe/Zurich", errs.Unsupported, "sessions run in UTC", "UTC"},
		{"spark.sql.caseSensitive", "true", errs.Unsupported, "without regard to case", "false"},
		{"spark.wap.branch", "audit", errs.Unsupported, "writing to a branch", ""},
	} {
		_, err := s.Set(c.name, c.value)
		if err == nil || errs.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.text) ||
			!strings.Contains(errs.HintOf(err), c.hint) {
			t.Errorf("SET %s = %q: %v (kind %v, hint %q), want %v %q", c.name, c.value, err, errs.KindOf(err),
				errs.HintOf(err), c.kind, c.text)
		}
	}
	if _, err := New(map[string]string{"tarn.spj": "x"}); errs.KindOf(err) != errs.Invalid {
		t.Errorf("a wrong default gives %v", err)
	}
	if _, err := s.Get("nope"); errs.KindOf(err) != errs.NotFound {
		t.Errorf("Get of an unknown name gives %v", err)
	}
}

// TestOverwriteMode takes Spark's name and letter case: a mode that is ignored would have rows replaced that aren't meant.
func TestOverwriteMode(t *testing.T) {
	s := newSet(t, nil)
	if got := s.PartitionOverwriteMode(); got != "static" {
		t.Errorf("the default is %q", got)
	}
	if notice, err := s.Set("spark.sql.sources.partitionoverwritemode", "DYNAMIC"); err != nil || notice != "" || s.PartitionOverwriteMode() != "dynamic" {
		t.Errorf("after SET it is %q, %q, %v", s.PartitionOverwriteMode(), notice, err)
	}
	if _, err := s.Set("spark.sql.sources.partitionOverwriteMode", "both"); errs.KindOf(err) != errs.Invalid {
		t.Errorf("the error is %v", err)
	}
	if err := s.Reset("spark.sql.sources.partitionOverwriteMode"); err != nil || s.PartitionOverwriteMode() != "static" {
		t.Errorf("after RESET it is %q, %v", s.PartitionOverwriteMode(), err)
	}
}

func TestSparkSettingsAreAnswered(t *testing.T) {
	s := newSet(t, nil)
	for _, c := range []struct{ name, value, notice string }{
		{"spark.sql.sources.v2.bucketing.enabled", "true", "nothing needs switching on"},
		{"spark.sql.sources.v2.bucketing.pushPartValues.enabled", "true", "nothing needs switching on"},
		{"spark.sql.sources.v2.bucketing.enabled", "false", "SET tarn.spj = 'off'"},
		{"spark.sql.iceberg.planning.preserve-data-grouping", "true", "nothing needs switching on"},
		{"spark.sql.requireAllClusterKeysForJoin", "false", "nothing needs switching on"},
		{"spark.sql.autoBroadcastJoinThreshold", "-1", ""},
		{"spark.sql.session.timeZone", "utc", ""},
		{"spark.sql.parquet.binaryAsString", "true", "changes nothing here"},
	} {
		notice, err := s.Set(c.name, c.value)
		if err != nil || !strings.Contains(notice, c.notice) || c.notice == "" && notice != "" {
			t.Errorf("SET %s = %s: notice %q, error %v, want %q", c.name, c.value, notice, err, c.notice)
		}
		if err := s.Reset(c.name); err != nil {
			t.Errorf("RESET %s: %v", c.name, err)
		}
	}
}

func TestSparkSettingsThatMeanOurs(t *testing.T) {
	s := newSet(t, nil)
	for text, want := range map[string]int64{"-1": 0, "1000": 1000, "2m": 2e6} {
		if notice, err := s.Set("spark.sql.autobroadcastjointhreshold", text); err != nil || notice != "" || s.BroadcastBytes() != want {
			t.Errorf("%s: notice %q, error %v, %d bytes", text, notice, err, s.BroadcastBytes())
		}
	}
	if err := s.Reset("spark.sql.autoBroadcastJoinThreshold"); err != nil || s.BroadcastBytes() != 10<<20 {
		t.Errorf("RESET: %v, %d bytes", err, s.BroadcastBytes())
	}
}

func TestParseBytes(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "1": 1, "10B": 10, "1KB": 1000, "1kib": 1024, "512MB": 512e6, "4GiB": 4 << 30, "1.5g": 15e8,
		"0.5 MiB": 1 << 19, "2TiB": 2 << 40, "0.0001KB": 0,
	} {
		if got, err := ParseBytes(text); err != nil || got != want {
			t.Errorf("ParseBytes(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "GiB", "-1", "1e3", "1/2", "4 gigs", "1..2", "0x10", "1 2", ".", "9223372036854775808"} {
		if got, err := ParseBytes(text); err == nil {
			t.Errorf("ParseBytes(%q) = %d, want an error", text, got)
		}
	}
	for _, n := range []int64{0, 1, 1023, 1024, 1 << 20, 3 << 30, 5 << 40, 1<<40 + 1} {
		if got, err := ParseBytes(FormatBytes(n)); err != nil || got != n {
			t.Errorf("%d is written as %q, which reads as %d (%v)", n, FormatBytes(n), got, err)
		}
	}
}

func TestMemoryFollowsTheContainer(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"version 2, limit on a parent": {map[string]string{
			"proc/self/cgroup": "0::/pod/app\n", "sys/fs/cgroup/pod/app/memory.max": "max\n", "sys/fs/cgroup/pod/memory.max": "1000\n",
		}, 1000},
		"version 1": {map[string]string{
			"proc/self/cgroup": "5:cpu,cpuacct:/x\n4:memory:/app\n",
			"sys/fs/cgroup/memory/app/memory.limit_in_bytes":   "2000\n",
			"sys/fs/cgroup/cpu,cpuacct/memory.limit_in_bytes":  "1\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes":       "9223372036854771712\n",
			"sys/fs/cgroup/memory/other/memory.limit_in_bytes": "1\n",
		}, 2000},
		"no limit":  {map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "max\n"}, 0},
		"no groups": {nil, 0},
	} {
		root := t.TempDir()
		for file, text := range c.files {
			file = filepath.Join(root, file)
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got := cgroupLimit(root); got != c.want {
			t.Errorf("%s: limit %d, want %d", name, got, c.want)
		}
	}
	if got := DefaultMemory(); got < MinMemory {
		t.Errorf("DefaultMemory() = %d", got)
	}
}
