using System.Net.Sockets;

namespace Net.Zlink.Transports;

/// <summary>A fault with one sentence that says what to do.</summary>
/// <param name="Fault">The fault, or <see cref="EndpointFault.None"/>.</param>
/// <param name="Sentence">One sentence in lower case without a full stop; callers put the endpoint in front.</param>
/// <param name="OsError">The system's error, or <see cref="SocketError.Success"/> if it was not asked.</param>
internal readonly record struct EndpointError(EndpointFault Fault, string Sentence, SocketError OsError = SocketError.Success)
{
    // How much of the user's text a sentence quotes: enough for a host name, little enough for one line.
    private const int QuotedLength = 64;

    private const int NoDevice = 19;

    /// <summary>The number for native events: the system's errno, or Linux's for faults without a <see cref="SocketError"/>.</summary>
    public long Errno => Fault switch
    {
        EndpointFault.NoSuchPath => 2,
        EndpointFault.NoSuchName => NoDevice,
        EndpointFault.NotADirectory => 20,
        EndpointFault.Invalid when OsError == SocketError.Success => 22,
        EndpointFault.NameTooLong => 36,
        _ => ErrnoOf(OsError),
    };

    /// <summary>The system's errno of an error, or 19 (ENODEV) if the system was not asked.</summary>
    public static long ErrnoOf(SocketError error) => error == SocketError.Success ? NoDevice : new SocketException((int)error).ErrorCode;

    public static EndpointError None => new(EndpointFault.None, "");

    public static EndpointError Invalid(string sentence) => new(EndpointFault.Invalid, sentence);

    /// <summary>Quotes a part of a user's text in a sentence: cut, and without control characters.</summary>
    public static string Quote(ReadOnlySpan<char> text)
    {
        var cut = text.Length > QuotedLength ? text[..QuotedLength] : text;
        var shown = string.Create(cut.Length, cut, static (target, source) =>
        {
            for (var i = 0; i < source.Length; i++)
            {
                target[i] = char.IsControl(source[i]) || char.IsSurrogate(source[i]) ? '?' : source[i];
            }
        });
        return cut.Length < text.Length ? $"\"{shown}...\"" : $"\"{shown}\"";
    }
}
