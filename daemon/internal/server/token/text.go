package token

import (
	"crypto/rand"
	"encoding/base64"
	"strconv"
	"unicode"
	"unicode/utf8"

	"fulmen/daemon/api"
)

const (
	// prefix begins every token, so that tools that look for leaked secrets, and
	// people, know one when they see it.
	prefix = "fulmen_"
	// secretBytes is 256 bits.
	secretBytes = 32
	// maxName bounds a token's name, in bytes.
	maxName = 64
)

func newText() string {
	var b [secretBytes]byte
	rand.Read(b[:]) // never fails: Go ends the program instead
	return prefix + base64.RawURLEncoding.EncodeToString(b[:])
}

func checkName(name string) error {
	what := ""
	switch {
	case name == "":
		what = "is empty"
	case len(name) > maxName:
		what = "is longer than " + strconv.Itoa(maxName) + " bytes"
	case !utf8.ValidString(name):
		what = "is not UTF-8"
	default:
		for _, r := range name {
			if !unicode.IsPrint(r) {
				what = "holds a character that cannot be printed"
			}
		}
	}
	if what == "" {
		return nil
	}
	return api.Errorf(api.ReasonBadValue, "name", "The name of a token %s.", what)
}

func noSuchToken(name string) error {
	return &api.Error{Code: api.CodeNotFound, Message: "You have no token with the name " + strconv.Quote(name) + ".",
		Data: api.ErrorData{Reason: api.ReasonNoSuchToken, Subject: name, Remedy: "`fulmen token list` lists them."}}
}

func tooMany() error {
	return &api.Error{Code: api.CodeExhausted, Message: "You already have as many tokens as one user can have.",
		Data: api.ErrorData{Reason: api.ReasonTooManyTokens, Remedy: "Revoke those that you no longer use."}}
}
