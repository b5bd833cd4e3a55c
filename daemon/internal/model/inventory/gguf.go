package inventory

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"fulmen/daemon/api"
)

const (
	// maxMetadata is how much of a GGUF file's metadata is read: what is wanted of it
	// comes before the tokens, which take megabytes.
	maxMetadata = 1 << 20
	maxPairs    = 1 << 16
)

// fileTypes are how most weights of a GGUF file are stored, by its general.file_type, as
// llama.cpp names them. Those that it has given up are left out.
var fileTypes = map[uint32]string{
	0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 7: "Q8_0", 8: "Q5_0", 9: "Q5_1", 10: "Q2_K", 11: "Q3_K_S", 12: "Q3_K_M", 13: "Q3_K_L",
	14: "Q4_K_S", 15: "Q4_K_M", 16: "Q5_K_S", 17: "Q5_K_M", 18: "Q6_K", 19: "IQ2_XXS", 20: "IQ2_XS", 21: "Q2_K_S", 22: "IQ3_XS", 23: "IQ3_XXS",
	24: "IQ1_S", 25: "IQ4_NL", 26: "IQ3_S", 27: "IQ3_M", 28: "IQ2_S", 29: "IQ2_M", 30: "IQ4_XS", 31: "IQ1_M", 32: "BF16",
}

// The types of values of GGUF, and how many bytes those of one size have.
const (
	ggufUint32 = 4
	ggufString = 8
	ggufArray  = 9
)

var ggufSizes = map[uint32]int64{0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}

// metadata reads the first of a model's GGUF files.
func metadata(root *os.Root, f file) (description, error) {
	opened, _, err := open(root, f.at)
	if err != nil {
		return description{}, err
	}
	defer opened.Close()
	return parseGGUF(opened)
}

// parseGGUF reads the architecture and the file type of a GGUF file, as far as they come
// at its beginning.
func parseGGUF(from io.Reader) (d description, err error) {
	g := &gguf{in: bufio.NewReader(from), left: maxMetadata}
	var head struct {
		Magic          [4]byte
		Version        uint32
		Tensors, Pairs uint64
	}
	if err := g.number(&head); err != nil || string(head.Magic[:]) != "GGUF" || head.Version < 2 || head.Version > 3 {
		return d, fmt.Errorf("%w: no GGUF of version 2 or 3", errForm)
	}
	for range min(head.Pairs, maxPairs) {
		if d.modelType != "" && d.quantization != nil {
			break
		}
		if err := g.pair(&d); errors.Is(err, errRoom) {
			break
		} else if err != nil {
			return description{}, fmt.Errorf("%w: %w", errForm, err)
		}
	}
	return d, nil
}

// gguf reads the metadata of a GGUF file.
type gguf struct {
	in   *bufio.Reader
	left int64
}

// errRoom ends the reading of metadata that are longer than what is read of them.
var errRoom = fmt.Errorf("more than %d bytes", maxMetadata)

// pair reads a key with its value.
func (g *gguf) pair(d *description) error {
	key, err := g.text(maxPath)
	if err != nil {
		return err
	}
	var kind uint32
	if err := g.number(&kind); err != nil {
		return err
	}
	switch {
	case key == "general.architecture" && kind == ggufString:
		word, err := g.text(maxWord)
		if err == nil && isWord(word) {
			d.modelType = word
		}
		return err
	case key == "general.file_type" && kind == ggufUint32:
		var number uint32
		err := g.number(&number)
		if mode := fileTypes[number]; err == nil && mode != "" {
			d.quantization = &api.Quantization{Mode: mode}
		}
		return err
	}
	return g.skip(kind)
}

// number reads values of a fixed size, the least byte first.
func (g *gguf) number(into any) error {
	if g.left -= int64(binary.Size(into)); g.left < 0 {
		return errRoom
	}
	return binary.Read(g.in, binary.LittleEndian, into)
}

// text reads a string; one that is longer than the limit is passed over, and empty.
func (g *gguf) text(limit uint64) (string, error) {
	var length uint64
	if err := g.number(&length); err != nil {
		return "", err
	}
	if length > limit {
		return "", g.discard(1, length)
	}
	if g.left -= int64(length); g.left < 0 {
		return "", errRoom
	}
	text := make([]byte, length)
	_, err := io.ReadFull(g.in, text)
	return string(text), err
}

// skip passes over a value.
func (g *gguf) skip(kind uint32) error {
	if size, isFixed := ggufSizes[kind]; isFixed {
		return g.discard(size, 1)
	}
	switch kind {
	case ggufString:
		_, err := g.text(0)
		return err
	case ggufArray:
		var head struct {
			Kind   uint32
			Length uint64
		}
		if err := g.number(&head); err != nil {
			return err
		}
		if size, isFixed := ggufSizes[head.Kind]; isFixed {
			return g.discard(size, head.Length)
		}
		if head.Kind != ggufString {
			return fmt.Errorf("an array of values of type %d", head.Kind)
		}
		for range head.Length {
			if _, err := g.text(0); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("a value of type %d", kind)
}

// discard passes over so many values of a size.
func (g *gguf) discard(size int64, count uint64) error {
	if count > uint64(g.left/size) {
		return errRoom
	}
	g.left -= size * int64(count)
	_, err := g.in.Discard(int(size) * int(count))
	return err
}
