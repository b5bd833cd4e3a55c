package store

import (
	"bytes"
	"encoding/binary"
	"hash/fnv"
	"os"
	"testing"
)

// FuzzDamage overwrites bytes of a database, and then does all there is to do
// with it. A file may be refused; what is let through must not surprise bbolt.
func FuzzDamage(f *testing.F) {
	good := sample(f)
	f.Add(false, []byte{})
	f.Add(false, []byte{0, 0, 64, 1, 255})
	f.Add(false, []byte("00\x80\n\x00"))                    // a leaf that has lost its elements
	f.Add(false, []byte("01p9\a"))                          // a bucket whose name is longer, and leads in a circle
	for page := range min(len(good)/os.Getpagesize(), 16) { // number, kind, count and overflow of each page
		for _, at := range []uint32{0, 8, 10, 12, 20} {
			edit := binary.BigEndian.AppendUint32(nil, uint32(page*os.Getpagesize())+at)
			f.Add(false, append(edit, 7))
		}
	}
	for at := byte(0); at < 56; at += 4 { // the two descriptions, with checksums that fit
		f.Add(true, []byte{0, 0, 0, 16 + at, 9, 0, 0, 16, 16 + at, 9})
	}
	f.Fuzz(func(t *testing.T, resealed bool, edits []byte) {
		text := bytes.Clone(good)
		for ; len(edits) >= 5; edits = edits[5:] {
			text[int(binary.BigEndian.Uint32(edits))%len(text)] = edits[4]
		}
		if resealed {
			for _, at := range []int{16, os.Getpagesize() + 16} {
				sum := fnv.New64a()
				sum.Write(text[at : at+56])
				binary.LittleEndian.PutUint64(text[at+56:], sum.Sum64())
			}
		}
		exercise(t, text)
	})
}

// FuzzFile takes any bytes for a database.
func FuzzFile(f *testing.F) {
	good := sample(f)
	f.Add([]byte{})
	f.Add(good)
	f.Add(good[:len(good)-100])
	f.Fuzz(exercise)
}

func exercise(t *testing.T, text []byte) {
	path := pathOf(t)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), path, options())
	if err != nil {
		t.Fatalf("neither used nor set aside: %v", err)
	}
	defer s.Close()
	if s.Quarantined() != nil {
		if kept, err := os.ReadFile(s.Quarantined().Path); err != nil || !bytes.Equal(kept, text) {
			t.Fatalf("what was set aside is not what was there: %v", err)
		}
	}
	steps := []func() error{
		func() error { return s.Put("jobs", "job 150+", bytes.Repeat([]byte("y"), 9000)) },
		func() error {
			return s.Update(func(w *Transaction) error {
				return w.ForEach("jobs", "", func(key string, value []byte) error { return w.Put("links", key, value) })
			})
		},
		func() error {
			return s.Update(func(w *Transaction) error {
				return w.ForEach("jobs", "", func(key string, _ []byte) error { return w.Delete("jobs", key) })
			})
		},
		func() error { return compacted(s) },
		func() error { return s.Put("jobs", "last", nil) },
	}
	for i, step := range steps {
		if err := step(); err != nil {
			t.Fatalf("step %d on a file that was let through: %v", i, err)
		}
	}
}
