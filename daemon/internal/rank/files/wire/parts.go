package wire

import "encoding/json"

// SayParts writes a slice as arrays, in as many frames as it takes; none where it
// is empty.
func SayParts[T any](c *Conn, kind Kind, values []T) error {
	frame := []byte{'['}
	for _, v := range values {
		data, err := json.Marshal(v)
		if err != nil {
			return err
		}
		if len(frame)+len(data)+1 > kind.limit() {
			if err := c.Write(kind, append(frame, ']')); err != nil {
				return err
			}
			frame = frame[:1]
		}
		if len(frame) > 1 {
			frame = append(frame, ',')
		}
		frame = append(frame, data...)
	}
	if len(frame) == 1 {
		return nil
	}
	return c.Write(kind, append(frame, ']'))
}
