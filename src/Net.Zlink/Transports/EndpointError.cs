using System.Net.Sockets;

namespace Net.Zlink.Transports;

/// <summary><paramref name="Sentence"/>: one sentence in lower case without a full stop; callers put the endpoint in front.</summary>
internal readonly record struct EndpointError(EndpointFault Fault, string Sentence, SocketError OsError = SocketError.Success)
{
    private const int QuotedLength = 64;

    private const int NoDevice = 19;

    public long Errno => Fault switch
    {
        EndpointFault.NoSuchPath => 2,
        EndpointFault.NoSuchName => NoDevice,
        EndpointFault.NotADirectory => 20,
        EndpointFault.Invalid when OsError == SocketError.Success => 22,
        EndpointFault.NameTooLong => 36,
        _ => ErrnoOf(OsError),
    };

    public static long ErrnoOf(SocketError error) => error == SocketError.Success ? NoDevice : new SocketException((int)error).ErrorCode;

    public static EndpointError None => new(EndpointFault.None, "");

    public static EndpointError Invalid(string sentence) => new(EndpointFault.Invalid, sentence);

    public static string QuoteEndpoint(RedactedEndpoint endpoint) => Quote(endpoint.ToString());

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
