namespace Net.Zlink;

/// <summary>Copies of the options of sockets.</summary>
public static class SocketOptionsExtensions
{
    /// <summary>Copies options for a further socket, or to keep them as they are: those of tls, ws and wss too, but not the objects in
    /// them, such as certificates. A routing id that was not set is another random one in the copy.</summary>
    /// <param name="options">The options, which a socket may have.</param>
    /// <typeparam name="TOptions">Their type.</typeparam>
    /// <returns>The copy, which no socket has.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="options"/> is null.</exception>
    public static TOptions Copy<TOptions>(this TOptions options)
        where TOptions : SocketOptions
    {
        ArgumentNullException.ThrowIfNull(options);
        return (TOptions)options.CopyOfAll();
    }
}
