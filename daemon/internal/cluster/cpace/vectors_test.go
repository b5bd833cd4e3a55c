package cpace

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"testing"

	"github.com/gtank/ristretto255"
	"github.com/matryer/is"
)

// octets are bytes that a file writes in hexadecimal.
type octets []byte

func (o *octets) UnmarshalText(text []byte) (err error) {
	*o, err = hex.DecodeString(string(text))
	return err
}

// vectors are the draft's.
type vectors struct {
	Code            octets   `json:"code"`
	Channel         octets   `json:"channel"`
	Session         octets   `json:"session"`
	GeneratorString octets   `json:"generator_string"`
	Generator       octets   `json:"generator"`
	SecretA         octets   `json:"secret_a"`
	DataA           octets   `json:"data_a"`
	ShareA          octets   `json:"share_a"`
	SecretB         octets   `json:"secret_b"`
	DataB           octets   `json:"data_b"`
	ShareB          octets   `json:"share_b"`
	Point           octets   `json:"point"`
	Key             octets   `json:"key"`
	ValidSecret     octets   `json:"valid_secret"`
	ValidShare      octets   `json:"valid_share"`
	ValidPoint      octets   `json:"valid_point"`
	InvalidShares   []octets `json:"invalid_shares"`
}

func draft(t *testing.T) vectors {
	t.Helper()
	is := is.New(t)
	raw, err := os.ReadFile("testdata/vectors.json")
	is.NoErr(err)
	var v vectors
	is.NoErr(json.Unmarshal(raw, &v))
	return v
}

func scalar(t *testing.T, encoded []byte) *ristretto255.Scalar {
	t.Helper()
	is := is.New(t)
	s := ristretto255.NewScalar()
	is.NoErr(s.Decode(encoded))
	return s
}

func TestDraft(t *testing.T) {
	is := is.New(t)
	v := draft(t)
	is.Equal(generatorString(v.Code, v.Channel, v.Session), []byte(v.GeneratorString))
	is.Equal(generator(v.Code, v.Channel, v.Session).Encode(nil), []byte(v.Generator))

	input := func(data []byte) Input {
		return Input{Code: v.Code, Channel: v.Channel, Session: v.Session, Data: data}
	}
	a := newRun(Initiator, input(v.DataA), scalar(t, v.SecretA))
	b := newRun(Responder, input(v.DataB), scalar(t, v.SecretB))
	is.Equal(a.Message(), Message{Share: v.ShareA, Data: v.DataA})
	is.Equal(b.Message(), Message{Share: v.ShareB, Data: v.DataB})
	point, ok := scalarMultVerify(scalar(t, v.SecretA), v.ShareB)
	is.True(ok)
	is.Equal(point, []byte(v.Point))

	ofA, err := a.Finish(b.Message())
	is.NoErr(err)
	ofB, err := b.Finish(a.Message())
	is.NoErr(err)
	for _, sides := range [][2]*Result{{ofA, ofB}, {ofB, ofA}} {
		key, err := sides[0].Check(sides[1].Confirm())
		is.NoErr(err)
		is.Equal(key, []byte(v.Key))
	}
}

func TestDraftInvalidShares(t *testing.T) {
	is := is.New(t)
	v := draft(t)
	point, ok := scalarMultVerify(scalar(t, v.ValidSecret), v.ValidShare)
	is.True(ok)
	is.Equal(point, []byte(v.ValidPoint))
	for _, share := range v.InvalidShares {
		_, ok := scalarMultVerify(scalar(t, v.ValidSecret), share)
		is.True(!ok)
		// In a run, from either side.
		for _, role := range []Role{Initiator, Responder} {
			r, err := New(role, Input{Code: v.Code, Session: v.Session})
			is.NoErr(err)
			_, err = r.Finish(Message{Share: share})
			is.True(errors.Is(err, ErrBadShare))
		}
	}
}
