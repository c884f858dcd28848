using System.Net.Sockets;

namespace Net.Zlink.Transports;

/// <summary>A fault and one sentence that says what to do about it.</summary>
/// <param name="Fault">The kind of fault; <see cref="EndpointFault.None"/> means that all is well.</param>
/// <param name="Sentence">One sentence in lower case without a full stop, so that a caller can put the endpoint in front of it.</param>
/// <param name="OsError">What the operating system said, or <see cref="SocketError.Success"/> when it was not asked.</param>
internal readonly record struct EndpointError(EndpointFault Fault, string Sentence, SocketError OsError = SocketError.Success)
{
    // What a sentence repeats of the user's text: enough to recognise a host name, little enough for one line of a terminal.
    private const int QuotedLength = 64;

    private const int NoDevice = 19;

    /// <summary>
    /// The number that native events carry: the system's own, and Linux's for what the runtime has no <see cref="SocketError"/> for: a name
    /// or a device that there is not, what was found to be wrong before the system was asked.
    /// </summary>
    public long Errno => Fault switch
    {
        EndpointFault.NoSuchPath => 2,
        EndpointFault.NoSuchName => NoDevice,
        EndpointFault.NotADirectory => 20,
        EndpointFault.Invalid when OsError == SocketError.Success => 22,
        EndpointFault.NameTooLong => 36,
        _ => ErrnoOf(OsError),
    };

    /// <summary>The operating system's own number of an error; 19, ENODEV, where the system was not asked.</summary>
    public static long ErrnoOf(SocketError error) => error == SocketError.Success ? NoDevice : new SocketException((int)error).ErrorCode;

    /// <summary>No error.</summary>
    public static EndpointError None => new(EndpointFault.None, "");

    /// <summary>A malformed text.</summary>
    public static EndpointError Invalid(string sentence) => new(EndpointFault.Invalid, sentence);

    /// <summary>Part of a user's text made fit for a sentence: in quotes, cut, and without control characters.</summary>
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
