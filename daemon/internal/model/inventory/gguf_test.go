package inventory

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// pair is a key of GGUF with its value: a string, or bytes of a type.
type pair struct {
	key   string
	kind  uint32
	value []byte
}

func ggufText(s string) []byte {
	return append(binary.LittleEndian.AppendUint64(nil, uint64(len(s))), s...)
}

func ggufWord(key, word string) pair { return pair{key, ggufString, ggufText(word)} }

func ggufNumber(key string, n uint32) pair {
	return pair{key, ggufUint32, binary.LittleEndian.AppendUint32(nil, n)}
}

// ggufList is an array of so many values of a type, each with the same bytes.
func ggufList(key string, kind uint32, count int, each []byte) pair {
	head := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint32(nil, kind), uint64(count))
	return pair{key, ggufArray, append(head, bytes.Repeat(each, count)...)}
}

// ggufFile is a GGUF file of a version with metadata, and nothing behind them.
func ggufFile(version uint32, pairs ...pair) string {
	out := binary.LittleEndian.AppendUint32([]byte("GGUF"), version)
	out = binary.LittleEndian.AppendUint64(out, 0)
	out = binary.LittleEndian.AppendUint64(out, uint64(len(pairs)))
	for _, p := range pairs {
		out = append(binary.LittleEndian.AppendUint32(append(out, ggufText(p.key)...), p.kind), p.value...)
	}
	return string(out)
}

// TestGGUF: what is wanted of the metadata is found behind whatever comes before it.
func TestGGUF(t *testing.T) {
	llama, q4 := ggufWord("general.architecture", "llama"), ggufNumber("general.file_type", 15)
	tokens := ggufList("tokenizer.ggml.tokens", ggufString, 3, ggufText("a token"))
	scores := ggufList("tokenizer.ggml.scores", 6, 1000, []byte{1, 2, 3, 4})
	for name, c := range map[string]struct {
		file, modelType, mode string
		isBad                 bool
	}{
		"both":             {ggufFile(3, llama, q4), "llama", "Q4_K_M", false},
		"version 2":        {ggufFile(2, q4, llama), "llama", "Q4_K_M", false},
		"behind others":    {ggufFile(3, tokens, pair{"f", 12, make([]byte, 8)}, scores, ggufWord("general.name", strings.Repeat("x", 5000)), pair{"b", 7, []byte{1}}, llama, q4), "llama", "Q4_K_M", false},
		"only one":         {ggufFile(3, llama, tokens), "llama", "", false},
		"none":             {ggufFile(3), "", "", false},
		"another type":     {ggufFile(3, ggufNumber("general.architecture", 1), ggufWord("general.file_type", "15")), "", "", false},
		"a number unknown": {ggufFile(3, llama, ggufNumber("general.file_type", 999)), "llama", "", false},
		"not a word":       {ggufFile(3, ggufWord("general.architecture", "a\x1bb"), q4), "", "Q4_K_M", false},
		"behind too much":  {ggufFile(3, llama, ggufList("much", 0, maxMetadata, []byte{0}), q4), "llama", "", false},
		"another file":     {"GGML" + ggufFile(3, llama)[4:], "", "", true},
		"version 1":        {ggufFile(1, llama), "", "", true},
		"the other order":  {"GGUF\x00\x00\x00\x03" + ggufFile(3, llama)[8:], "", "", true},
		"cut short":        {ggufFile(3, llama, q4)[:60], "", "", true},
		"empty":            {"", "", "", true},
		"no such type":     {ggufFile(3, pair{"x", 13, nil}, llama), "", "", true},
		"nested":           {ggufFile(3, ggufList("x", ggufArray, 1, nil), llama), "", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			d, err := parseGGUF(strings.NewReader(c.file))
			is.Equal(errors.Is(err, errForm), c.isBad)
			is.Equal(d.modelType, c.modelType)
			mode := ""
			if d.quantization != nil {
				mode = d.quantization.Mode
			}
			is.Equal(mode, c.mode)
		})
	}
}

// FuzzGGUF: whatever a file says, it ends, and what it gives can be shown.
func FuzzGGUF(f *testing.F) {
	f.Add([]byte(ggufFile(3, ggufList("t", ggufString, 2, ggufText("a")), ggufWord("general.architecture", "llama"), ggufNumber("general.file_type", 1))))
	f.Add([]byte(ggufFile(3, pair{"x", ggufArray, binary.LittleEndian.AppendUint64([]byte{8, 0, 0, 0}, 1<<63)})))
	f.Add([]byte(ggufFile(3, pair{"x", ggufString, binary.LittleEndian.AppendUint64(nil, 1<<63)})))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := parseGGUF(bytes.NewReader(data))
		if err != nil && (!errors.Is(err, errForm) || d != (description{})) {
			t.Fatal(d, err)
		}
		if d.modelType != "" && !isWord(d.modelType) || d.quantization != nil && !isWord(d.quantization.Mode) {
			t.Fatalf("%+v", d)
		}
	})
}
