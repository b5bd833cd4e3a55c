package fulmen_test

import (
	"regexp"
	"testing"

	"github.com/matryer/is"

	"fulmen"
)

func TestVersion(t *testing.T) {
	is := is.New(t)
	is.True(regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+$`).MatchString(fulmen.Version())) // three numbers, as a bundle wants it
}
