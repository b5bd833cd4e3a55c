package look

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"fulmen/daemon/api"
)

// Bounds of what the two sides say to each other.
const (
	// MaxRequestBytes is the largest request.
	MaxRequestBytes = 2 << 20
	// MaxAnswerBytes is the largest answer.
	MaxAnswerBytes = 1 << 20

	maxDeadlineS = 24 * 3600
)

// ParseRequest reads a request, strictly: no unknown field, no second value.
func ParseRequest(data []byte) (Request, error) {
	var r Request
	if err := parse(data, MaxRequestBytes, &r); err != nil {
		return Request{}, fmt.Errorf("the request: %w", err)
	}
	if err := r.Check(); err != nil {
		return Request{}, err
	}
	return r, nil
}

// ParseAnswer reads an answer, as strictly: the process ran as somebody else,
// and what it says is not believed blindly.
func ParseAnswer(data []byte) (Answer, error) {
	var a Answer
	if err := parse(data, MaxAnswerBytes, &a); err != nil {
		return Answer{}, fmt.Errorf("the answer: %w", err)
	}
	for _, p := range a.Problems {
		if p.Reason == "" || p.Message == "" {
			return Answer{}, errors.New("the answer: a problem without a reason or a message")
		}
	}
	if a.MLX != nil {
		a.MLX.Backends = slices.DeleteFunc(a.MLX.Backends, func(b api.MLXBackend) bool { return !b.Valid() })
	}
	return a, nil
}

func parse(data []byte, limit int, into any) error {
	if len(data) > limit {
		return fmt.Errorf("larger than %d bytes", limit)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return err
	}
	if rest := bytes.TrimSpace(data[decoder.InputOffset():]); len(rest) > 0 {
		return errors.New("something follows it")
	}
	return nil
}
