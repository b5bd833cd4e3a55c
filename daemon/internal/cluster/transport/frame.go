package transport

import (
	"encoding/json"
	"io"

	"fulmen/native/frame"
)

// writeFrame sends a frame in one write.
func writeFrame(w io.Writer, data []byte) error {
	_, err := w.Write(frame.Encode(data))
	return err
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
