namespace Net.Zlink.Porting;

/// <summary>Makes a <see cref="Proxy"/> that a control socket commands, for code that is being ported. New code calls the proxy's
/// methods.</summary>
/// <remarks>
/// The control socket, of any type, takes the native commands, each a message of one part. PAUSE, RESUME and TERMINATE are answered with an
/// empty message.
/// STATISTICS is answered with eight parts of 8 bytes in this machine's byte order: parts and bytes received from the front, sent to the
/// front, received from the back, sent to the back. A control socket with Conflate gets no answer to STATISTICS.
/// Unlike natively PAUSE pauses and RESUME resumes. Anything else does nothing and is answered with an empty message, as natively.
/// </remarks>
public static class NativeProxy
{
    /// <summary>A proxy with a control socket, not running yet.</summary>
    /// <param name="front">As for <see cref="Proxy(ZmpSocket, ZmpSocket, ZmpSocket)"/>.</param>
    /// <param name="back">As for <see cref="Proxy(ZmpSocket, ZmpSocket, ZmpSocket)"/>.</param>
    /// <param name="capture">Gets a copy of every message. Null for none.</param>
    /// <param name="control">Gives commands; a socket of its own. The proxy does not own it.</param>
    /// <returns>The proxy.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="front"/>, <paramref name="back"/> or <paramref name="control"/> is
    /// null.</exception>
    /// <exception cref="ArgumentException"><paramref name="control"/> is one of the other sockets. Else as for the proxy's
    /// constructor.</exception>
    public static Proxy Create(ZmpSocket front, ZmpSocket back, ZmpSocket? capture, ZmpSocket control)
    {
        ArgumentNullException.ThrowIfNull(control);
        return new Proxy(front, back, capture, control);
    }
}
