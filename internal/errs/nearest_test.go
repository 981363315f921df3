package errs

import "testing"

func TestNearest(t *testing.T) {
	known := []string{"tarn.spj", "tarn.pack_bytes", "tarn.threads", "customer_id"}
	for name, want := range map[string]string{
		"tarn.spj":        "tarn.spj",
		"spj":             "tarn.spj",
		"tarn.psj":        "tarn.spj",
		"TARN.PACKBYTES":  "tarn.pack_bytes",
		"custmer_id":      "customer_id",
		"entirely_other":  "",
		"":                "",
		"x":               "",
		"tarn.trheads":    "tarn.threads",
		"tarn.something!": "",
	} {
		if got := Nearest(name, known); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", name, got, want)
		}
	}
}
