package transport

import (
	"encoding/json"
	"io"
	"net"
	"slices"
	"time"

	"fulmen/native/frame"
)

// pieceBytes is the most that is written at once. TLS makes a record of it, and
// the other side keeps, for as long as the connection lasts, room for more than
// twice the largest record that ever came.
const pieceBytes = 4 << 10

// writeFrame sends a frame: a small one in one write.
func writeFrame(w io.Writer, data []byte) error {
	for piece := range slices.Chunk(frame.Encode(data), pieceBytes) {
		if _, err := w.Write(piece); err != nil {
			return err
		}
	}
	return nil
}

// writeWithin is writeFrame for a connection that lasts. The deadline is taken
// away again: one that stays wakes the process long after the write, for nothing,
// and a cluster has many connections that say little.
func writeWithin(c net.Conn, data []byte) error {
	if err := c.SetWriteDeadline(time.Now().Add(sendWithin)); err != nil {
		return err
	}
	if err := writeFrame(c, data); err != nil {
		return err
	}
	return c.SetWriteDeadline(time.Time{})
}

func writeJSON(w io.Writer, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return writeFrame(w, data)
}

func readJSON(r io.Reader, limit int, value any) error {
	data, err := frame.Read(r, limit)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, value)
}
