namespace Net.Zlink.Transports;

/// <summary>
/// A TLS session has read bytes that were no data, and would now wait. Its reader begins again, with a wait that holds no buffer.
/// </summary>
internal sealed class NoDataYetException() : IOException("no data yet");
