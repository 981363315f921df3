package config

import (
	"net/url"
	"regexp"
	"strings"
)

// secretKey matches the names of keys whose values must not be shown. It is wide on purpose: a value masked in vain does
// no harm.
var secretKey = regexp.MustCompile(`(?i)credential|token|passw|secret|access[-_.]?key|account[-_.]?key|api[-_.]?key|private[-_.]?key|authorization|signature|cookie`)

// notSecret are keys that the pattern catches although they only say where or how.
var notSecret = regexp.MustCompile(`(?i)(uri|url|endpoint|enabled|type|expires-in(-ms)?)$`)

const mask = "********"

// Masked returns a key's text fit for showing: secrets are masked, also the password within a URI.
func (c Catalog) Masked(key string) string {
	text := c.Get(key)
	if text != "" && secretKey.MatchString(key) && !notSecret.MatchString(key) {
		return mask
	}
	return maskURI(text)
}

// maskURI masks the password, and every query value that looks like a secret, of a text that is a URI.
func maskURI(text string) string {
	scheme, rest, isURI := strings.Cut(text, "://")
	if !isURI {
		return text
	}
	path, query, hasQuery := strings.Cut(rest, "?")
	// The last @ counts, though a password must not hold a slash: one that does must not be shown either.
	if at := strings.LastIndexByte(path, '@'); at >= 0 {
		if user, _, hasPassword := strings.Cut(path[:at], ":"); hasPassword {
			path = user + ":" + mask + path[at:]
		}
	}
	if hasQuery {
		pairs := strings.Split(query, "&")
		for i, pair := range pairs {
			name, _, _ := strings.Cut(pair, "=")
			if plain, err := url.QueryUnescape(name); err != nil || secretKey.MatchString(plain) {
				pairs[i] = name + "=" + mask
			}
		}
		path += "?" + strings.Join(pairs, "&")
	}
	return scheme + "://" + path
}
