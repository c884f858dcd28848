namespace Net.Zlink.Transports;

/// <summary>What a TLS session read from the socket was not data, and now it would wait: whoever reads the session begins anew, with a wait
/// that holds no buffer. Nothing is lost.</summary>
internal sealed class NoDataYetException() : IOException("no data yet");
