package verdict

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// JSON writes the report for programs.
func (r *Report) JSON() string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(r); err != nil { // a Report holds nothing that JSON can't
		return "{}"
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// minWidth is the narrowest text that lines are broken for, in characters: below it words would stand one a line.
const minWidth = 40

// Text writes the report for people. Lines are broken at width characters; 0 leaves them whole.
func (r *Report) Text(width int) string {
	t := &text{width: width}
	if width > 0 {
		t.width = max(width, minWidth)
	}
	if len(r.Joins) == 0 {
		t.line("", "", "the query has no join")
	}
	for i, j := range r.Joins {
		if i > 0 {
			t.b.WriteString("\n")
		}
		t.line("", "  ", heading(j))
		for _, v := range j.Verdicts {
			t.verdict(v, r.engine(v.Engine))
		}
	}
	for _, e := range r.Engines {
		if len(e.Settings) == 0 {
			continue
		}
		t.b.WriteString("\n")
		t.line("", "  ", fmt.Sprintf("settings for %s %s:", e.Name, e.Version))
		for _, s := range e.Settings {
			t.line("  ", "    ", fmt.Sprintf("%s; -- by default %s; %s", s.Statement, s.Default, s.Why))
		}
	}
	return t.b.String()
}

func heading(j Join) string {
	text := j.Name
	if j.Condition != "" {
		text += " on " + j.Condition
	}
	return text + ": " + strings.Join(j.Tables, ", ")
}

func (r *Report) engine(name string) Engine {
	for _, e := range r.Engines {
		if e.Name == name {
			return e
		}
	}
	return Engine{Name: name}
}

type text struct {
	b     strings.Builder
	width int
}

// said is how a verdict is told.
var said = map[Shuffle]string{
	None: "no shuffle", Broadcast: "no shuffle: one side is broadcast", OneSide: "one side is shuffled", BothSides: "both sides are shuffled",
	Refused: "refused",
}

func (t *text) verdict(v Verdict, e Engine) {
	s := said[v.Shuffle]
	if v.Engine == Tarn && v.isWhole {
		s = "not by layout: the join runs whole"
	}
	switch n := len(v.Settings); {
	case n == 1:
		s += ", with one setting"
	case n > 1:
		s += fmt.Sprintf(", with %d settings", n)
	}
	if !e.Verified {
		s += " (unverified)"
	}
	t.line(fmt.Sprintf("  %-6s", v.Engine), "         ", s)
	for _, f := range v.Problems {
		t.finding("- ", f)
	}
	for _, f := range v.Notes {
		t.finding("note: ", f)
	}
}

func (t *text) finding(mark string, f Finding) {
	t.line("         "+mark, "           ", f.What)
	if f.Mend != "" {
		t.line("           mend: ", "             ", f.Mend)
	}
}

// line writes words behind a head, and goes on with indent where a line is full. A word that is longer than a line stands alone.
func (t *text) line(head, indent, words string) {
	t.b.WriteString(head)
	at := utf8.RuneCountInString(head)
	first := true
	for _, w := range strings.Split(words, " ") {
		n := utf8.RuneCountInString(w)
		switch {
		case first && head != "" && !strings.HasSuffix(head, " "):
			t.b.WriteString(" ")
			at++
		case first:
		case t.width > 0 && at+1+n > t.width:
			t.b.WriteString("\n" + indent)
			at = len(indent)
		default:
			t.b.WriteString(" ")
			at++
		}
		first = false
		t.b.WriteString(w)
		at += n
	}
	t.b.WriteString("\n")
}
