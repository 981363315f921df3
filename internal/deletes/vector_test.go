package deletes

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
)

// vectors are of DEL-14.
var vectors = map[string][]int64{
	"00000022d1d339640100000000000000000000003a3000000100000000000000100000000100eebd85f4": {1},
	"0000003ad1d339640200000000000000000000003a30000001000000000001001000000000000200" +
		"010000003a300000010000000000000010000000020080f9e810": {0, 2, 4294967298},
}

func unhex(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func all(p *Positions) []int64 { return slices.Collect(p.All()) }

func TestDecodeVector(t *testing.T) {
	for text, want := range vectors {
		p, err := DecodeVector(unhex(t, text))
		if err != nil {
			t.Fatal(err)
		}
		if got := all(p); !slices.Equal(got, want) || p.Count() != int64(len(want)) {
			t.Errorf("%s: %v, %d of them", text, got, p.Count())
		}
		for _, at := range want {
			if !p.Contains(at) || p.Contains(at+1) && !slices.Contains(want, at+1) {
				t.Errorf("%s: position %d isn't found as it is", text, at)
			}
		}
	}
}

// Every bit of a vector is looked at.
func TestFlippedBitFailsVector(t *testing.T) {
	for text := range vectors {
		blob := unhex(t, text)
		for bit := range 8 * len(blob) {
			bad := slices.Clone(blob)
			bad[bit/8] ^= 1 << (bit % 8)
			if _, err := DecodeVector(bad); err == nil {
				t.Errorf("%s: bit %d is flipped, and nobody sees it", text, bit)
			}
		}
		for n := range blob {
			if _, err := DecodeVector(blob[:n]); err == nil {
				t.Errorf("%s: read from its first %d bytes", text, n)
			}
		}
	}
}

// framed returns a blob around a 64-bit bitmap of those 32-bit ones, with the right length and checksum.
func framed(count uint64, bitmaps ...[]byte) []byte {
	body := binary.LittleEndian.AppendUint64([]byte(vectorMagic), count)
	body = append(body, bytes.Join(bitmaps, nil)...)
	blob := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
	blob = append(blob, body...)
	return binary.BigEndian.AppendUint32(blob, crc32.ChecksumIEEE(body))
}

// bitmap returns a 32-bit bitmap from 16-bit and 32-bit numbers.
func bitmap(numbers ...any) []byte {
	var out []byte
	for _, n := range numbers {
		switch n := n.(type) {
		case int:
			out = binary.LittleEndian.AppendUint16(out, uint16(n))
		case uint32:
			out = binary.LittleEndian.AppendUint32(out, n)
		}
	}
	return out
}

// runs returns one container of runs, which says that it has so many values, with key 0.
func runs(high uint32, count int, numbers ...any) []byte {
	return slices.Concat(bitmap(high, uint32(cookieRuns)), []byte{1}, bitmap(0, count-1), bitmap(numbers...))
}

func TestDecodeVectorOfRuns(t *testing.T) {
	for _, test := range []struct {
		name string
		blob []byte
		want string
	}{
		{"a run that an array would hold in less", framed(1, runs(3, 2, 1, 5, 1)), "[12884901893 12884901894]"},
		{"runs that touch", framed(1, runs(0, 4, 2, 5, 1, 7, 1)), "[5 6 7 8]"},
		{"empty bitmaps below", framed(3, bitmap(uint32(0), uint32(cookiePlain), uint32(0)), bitmap(uint32(1), uint32(cookiePlain), uint32(0)),
			bitmap(uint32(2), uint32(cookiePlain), uint32(1), 0, 0, uint32(16), 9)), "[8589934601]"},
		{"nothing", framed(0), "[]"},
	} {
		p, err := DecodeVector(test.blob)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		} else if got := fmt.Sprint(all(p)); got != test.want {
			t.Errorf("%s: %s", test.name, got)
		}
	}
}

// A right checksum over wrong bytes: what a faulty writer leaves.
func TestDecodeVectorRefuses(t *testing.T) {
	plain := func(n uint32, numbers ...any) []byte {
		return append(bitmap(uint32(0), uint32(cookiePlain), n), bitmap(numbers...)...)
	}
	for _, test := range []struct {
		part string
		blob []byte
	}{
		{"ends too early", framed(1)},
		{"ends too early", framed(1<<63, plain(0))},
		{"bytes follow", framed(0, plain(0))},
		{"begins with 1", framed(1, bitmap(uint32(0), uint32(1)))},
		{"4294967295 containers", framed(1, plain(1<<32-1))},
		{"65537 containers", framed(1, plain(65537))},
		{"ends too early", framed(1, plain(65536))},
		{"which no file has", framed(1, bitmap(uint32(1<<31), uint32(cookiePlain), uint32(0)))},
		{"upper bits 0 come after 0", framed(2, plain(0), plain(0))},
		{"container 4 comes after 4", framed(1, plain(2, 4, 0, 4, 0, uint32(0), uint32(0), 1, 1))},
		{"value 3 comes after 3", framed(1, plain(1, 0, 1, uint32(0), 3, 3))},
		{"ends too early", framed(1, plain(1, 0, 4096, uint32(0)))},
		{"0 values says that it has 4097", framed(1, append(plain(1, 0, 4096, uint32(0)), make([]byte, bitmapBytes)...))},
		{"a run of 2 values from 65535", framed(1, runs(0, 2, 1, 65535, 1))},
		{"from 5 on comes after 6", framed(1, runs(0, 4, 2, 5, 1, 5, 1))},
		{"runs of 2 values say that they have 3", framed(1, runs(0, 3, 1, 5, 1))},
		{"runs of 0 values", framed(1, runs(0, 3, 0))},
	} {
		_, err := DecodeVector(test.blob)
		if err == nil || !strings.Contains(err.Error(), test.part) {
			t.Errorf("got %v, want %q", err, test.part)
		}
	}
}

// What the library writes is read, all kinds of containers.
func TestDecodeVectorOfLibrary(t *testing.T) {
	b := roaring.New()
	b.AddRange(0, 70_000) // a bitmap full, runs
	b.AddMany([]uint32{1 << 20, 1<<20 + 5, 1 << 31, 1<<32 - 1})
	for i := uint32(1 << 25); i < 1<<25+60_000; i += 3 {
		b.Add(i)
	}
	for range 2 {
		text, err := b.ToBytes()
		if err != nil {
			t.Fatal(err)
		}
		p, err := DecodeVector(framed(1, bitmap(uint32(0)), text))
		if err != nil {
			t.Fatal(err)
		}
		if !p.parts[0].low.Equals(b) {
			t.Error("other positions come back")
		}
		b.RunOptimize()
	}
}

// FuzzDecodeVector wants an error or a vector that says the same again, for any bytes; the frame is made right so that
// they reach the bitmap.
func FuzzDecodeVector(f *testing.F) {
	for text := range vectors {
		blob := unhex(f, text)
		f.Add(blob[lengthBytes+len(vectorMagic) : len(blob)-crcBytes])
	}
	f.Add(bitmap(uint32(1), uint32(0), uint32(0), uint32(cookieRuns|3<<16), 0xF))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, bitmaps []byte) {
		_, _ = DecodeVector(bitmaps)
		body := append([]byte(vectorMagic), bitmaps...)
		blob := append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
		p, err := DecodeVector(binary.BigEndian.AppendUint32(blob, crc32.ChecksumIEEE(body)))
		if err != nil {
			return
		}
		again, err := p.EncodeVector()
		if err != nil {
			t.Fatal(err)
		}
		q, err := DecodeVector(again)
		if err != nil {
			t.Fatal(err)
		}
		if q.Count() != p.Count() {
			t.Fatalf("%d positions became %d", p.Count(), q.Count())
		}
		for i := range p.parts {
			if !q.parts[i].low.Equals(p.parts[i].low) {
				t.Fatal("other positions come back")
			}
		}
	})
}
