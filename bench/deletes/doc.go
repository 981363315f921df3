// Command deletes measures what row-level deletes cost a scan: the same rows without any, with 1 % deleted by position
// deletes and by deletion vectors, and with equality deletes of 10,000 keys, each in a process of its own, interleaved.
package main
