package settings

import (
	"maps"
	"strings"
	"sync"

	"github.com/tarndb/tarn/internal/errs"
)

// SPJ says whether joins run group by group.
type SPJ string

// The modes of tarn.spj.
const (
	SPJAuto    SPJ = "auto"
	SPJRequire SPJ = "require"
	SPJOff     SPJ = "off"
)

// Set holds one session's values. It is safe for concurrent use; a statement that must see one value throughout takes a
// Clone first.
type Set struct {
	mu       sync.RWMutex
	defaults map[string]any
	values   map[string]any
}

// New returns a Set with the given defaults, by option name, over the registry's own. RESET goes back to them.
func New(defaults map[string]string) (*Set, error) {
	s := &Set{defaults: make(map[string]any, len(registry))}
	for _, o := range registry {
		value, err := o.parse(o.Default)
		if err != nil {
			return nil, errs.Wrap(errs.Internal, "default of", o.Name, err)
		}
		s.defaults[o.Name] = value
	}
	for name, text := range defaults {
		o, value, err := parse(name, text)
		if err != nil {
			return nil, err
		}
		s.defaults[o.Name] = value
	}
	s.values = maps.Clone(s.defaults)
	return s, nil
}

// Clone returns an independent copy.
func (s *Set) Clone() *Set {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return &Set{defaults: s.defaults, values: maps.Clone(s.values)}
}

// Set gives an option a value. The notice, if any, is for the person who said SET.
func (s *Set) Set(name, text string) (notice string, err error) {
	name, text = translate(name, text)
	if isSpark(name) {
		return answerSpark(name, text)
	}
	o, value, err := parse(name, text)
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.values[o.Name] = value
	return "", nil
}

// Reset gives an option its default back.
func (s *Set) Reset(name string) error {
	name, _ = translate(name, "")
	if isSpark(name) {
		return nil // it never held a value of its own
	}
	o, err := find("reset", name)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.values[o.Name] = s.defaults[o.Name]
	return nil
}

// ResetAll gives every option its default back.
func (s *Set) ResetAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.values = maps.Clone(s.defaults)
}

// Get returns an option's value as text that Set reads back.
func (s *Set) Get(name string) (string, error) {
	o, err := find("show", name)
	if err != nil {
		return "", err
	}
	return o.show(s.value(o.Name)), nil
}

// Entry is one line of SHOW SETTINGS.
type Entry struct {
	Option
	Value   string
	Changed bool // the value isn't the default
}

// List returns all options with their values, in the registry's order.
func (s *Set) List() []Entry {
	s.mu.RLock()
	defer s.mu.RUnlock()
	entries := make([]Entry, len(registry))
	for i, o := range registry {
		value, def := s.values[o.Name], s.defaults[o.Name]
		entries[i] = Entry{Option: *o, Value: o.show(value), Changed: value != def}
		entries[i].Default = o.show(def)
	}
	return entries
}

// SPJ is the value of tarn.spj.
func (s *Set) SPJ() SPJ { return SPJ(s.value(nameSPJ).(string)) }

// PackBytes is the value of tarn.pack_bytes: the size of a pack, or 0 for one pack of each group.
func (s *Set) PackBytes() int64 { return s.value(namePackBytes).(int64) }

// VerifyLayout is the value of tarn.verify_layout.
func (s *Set) VerifyLayout() bool { return s.value(nameVerifyLayout).(bool) }

// Exchange is the value of tarn.exchange.
func (s *Set) Exchange() string { return s.value(nameExchange).(string) }

// BroadcastBytes is the value of tarn.broadcast_bytes.
func (s *Set) BroadcastBytes() int64 { return s.value(nameBroadcast).(int64) }

// Skew is the value of tarn.skew.
func (s *Set) Skew() string { return s.value(nameSkew).(string) }

// PartitionOverwriteMode is the value of tarn.partition_overwrite_mode.
func (s *Set) PartitionOverwriteMode() string { return s.value(nameOverwrite).(string) }

// WAPID is the value of tarn.wap_id; "" stages nothing.
func (s *Set) WAPID() string { return s.value(nameWAP).(string) }

// RowChangeMode is the value of tarn.row_change_mode; "" is as the table's properties say.
func (s *Set) RowChangeMode() string {
	if mode := s.value(nameRowChange).(string); mode != "table" {
		return mode
	}
	return ""
}

// MetadataAnswers is the value of tarn.metadata_answers.
func (s *Set) MetadataAnswers() bool { return s.value(nameMetadata).(bool) }

// DynamicFilter is the value of tarn.dynamic_filter.
func (s *Set) DynamicFilter() string { return s.value(nameDynamic).(string) }

// DynamicFilterBytes is the value of tarn.dynamic_filter_bytes.
func (s *Set) DynamicFilterBytes() int64 { return s.value(nameDynamicBytes).(int64) }

// Threads is the value of tarn.threads; 0 is one for each core.
func (s *Set) Threads() int { return s.value(nameThreads).(int) }

// MemoryBytes is the value of tarn.memory; 0 is DefaultMemory.
func (s *Set) MemoryBytes() int64 { return s.value(nameMemory).(int64) }

func (s *Set) value(name string) any {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.values[name]
}

func parse(name, text string) (*Option, any, error) {
	o, err := find("set", name)
	if err != nil {
		return nil, nil, err
	}
	value, err := o.parse(strings.TrimSpace(text))
	if err != nil {
		return nil, nil, errs.New(errs.Invalid, "set", o.Name, "%s", err)
	}
	return o, value, nil
}

func find(op, name string) (*Option, error) {
	known := make([]string, len(registry))
	for i, o := range registry {
		if strings.EqualFold(o.Name, name) {
			return o, nil
		}
		known[i] = o.Name
	}
	err := errs.New(errs.NotFound, op, name, "there is no such setting")
	if near := errs.Nearest(name, known); near != "" {
		return nil, err.WithHint("did you mean %s?", near)
	}
	return nil, err.WithHint("SHOW SETTINGS lists the settings: %s", strings.Join(known, ", "))
}
