using System.Net.Sockets;

namespace Net.Zlink.Transports;

/// <summary><paramref name="Sentence"/>: one sentence in lower case without a full stop; callers put the endpoint in front.</summary>
internal readonly record struct EndpointError(ZlinkError Code, string Sentence, SocketError OsError = SocketError.Success)
{
    public const string NoDescriptors =
        "the process or the machine is out of file descriptors; close some, or raise the limit (ulimit -n)";

    private const int QuotedLength = 64;

    private const int NoDevice = 19;

    public long Errno => Code switch
    {
        ZlinkError.NotFound => 2,
        ZlinkError.NoDevice => NoDevice,
        ZlinkError.NotADirectory => 20,
        ZlinkError.InvalidArgument when OsError == SocketError.Success => 22,
        ZlinkError.NameTooLong => 36,
        _ => ErrnoOf(OsError),
    };

    public static long ErrnoOf(SocketError error) => error == SocketError.Success ? NoDevice : new SocketException((int)error).ErrorCode;

    public static EndpointError None => new(ZlinkError.None, "");

    public static EndpointError Invalid(string sentence) => new(ZlinkError.InvalidArgument, sentence);

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
