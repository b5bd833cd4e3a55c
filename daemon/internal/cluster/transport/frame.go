package transport

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
)

// writeFrame sends a length of four bytes, big-endian, and the bytes, in one
// write.
func writeFrame(w io.Writer, data []byte) error {
	frame := binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(data)), uint32(len(data)))
	_, err := w.Write(append(frame, data...))
	return err
}

// readFrame reads a frame of at most limit bytes. The memory is taken as the
// bytes come, not as the length claims.
func readFrame(r io.Reader, limit int) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	length := int64(binary.BigEndian.Uint32(head[:]))
	if length > int64(limit) {
		return nil, fmt.Errorf("a frame of %d bytes, where %d are allowed", length, limit)
	}
	data, err := io.ReadAll(io.LimitReader(r, length))
	if err == nil && int64(len(data)) < length {
		err = io.ErrUnexpectedEOF
	}
	return data, err
}

func writeJSON(w io.Writer, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return writeFrame(w, data)
}

func readJSON(r io.Reader, limit int, value any) error {
	data, err := readFrame(r, limit)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, value)
}
