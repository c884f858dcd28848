namespace Net.Zlink.Porting;

/// <summary>Creates a <see cref="Proxy"/> with a control socket, for ported code. New code calls the proxy's methods.</summary>
/// <remarks>
/// The control socket, of any type, receives the native commands, each a message of one part. PAUSE, RESUME and TERMINATE get an empty
/// answer. STATISTICS gets eight parts of 8 bytes in the machine's byte order: parts and bytes received from the front, sent to the front,
/// received from the back, sent to the back. A control socket with Conflate gets no answer to STATISTICS. In contrast to the native core,
/// PAUSE pauses and RESUME resumes. Other commands get an empty answer and do nothing.
/// </remarks>
public static class NativeProxy
{
    /// <summary>Creates a proxy with a control socket. It is not running.</summary>
    /// <param name="front">As for <see cref="Proxy(ZmpSocket, ZmpSocket, ZmpSocket)"/>.</param>
    /// <param name="back">As for <see cref="Proxy(ZmpSocket, ZmpSocket, ZmpSocket)"/>.</param>
    /// <param name="capture">Gets a copy of every message. Null: none.</param>
    /// <param name="control">Receives commands. It must be a separate socket; the proxy does not own it.</param>
    /// <returns>The proxy.</returns>
    /// <exception cref="ArgumentNullException">
    /// <paramref name="front"/>, <paramref name="back"/> or <paramref name="control"/> is null.
    /// </exception>
    /// <exception cref="ArgumentException">
    /// <paramref name="control"/> is one of the other sockets. Otherwise as for the proxy's constructor.
    /// </exception>
    public static Proxy Create(ZmpSocket front, ZmpSocket back, ZmpSocket? capture, ZmpSocket control)
    {
        ArgumentNullException.ThrowIfNull(control);
        return new Proxy(front, back, capture, control);
    }
}
