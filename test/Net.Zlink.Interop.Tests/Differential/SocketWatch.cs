using System.Globalization;
using System.Text;
using System.Text.RegularExpressions;
using Net.Zlink.Interop.Tests.Native;
using Net.Zlink.Interop.Tests.Peers;
using Net.Zlink.Interop.Tests.Support;

namespace Net.Zlink.Interop.Tests.Differential;

/// <summary>What can be seen of sockets beside their messages: what they are ready for, and what their monitors tell.</summary>
internal sealed partial class SocketWatch(IPeerSocket?[] sockets)
{
    private const int LongestOption = 512;

    private readonly NativePollEvents[] _readiness = new NativePollEvents[sockets.Length];
    private readonly List<PeerEvent>[] _events = [.. sockets.Select(static _ => new List<PeerEvent>())];

    /// <summary>An option as text: a number, or bytes; endpoints by their places in the plan.</summary>
    public static string OptionOf(IPeerSocket socket, int number, string[] endpoints)
    {
        bool isText = number is NativeOption.LastEndpoint or NativeOption.RoutingId;
        string read = socket.TryGetOption(number, isText ? LongestOption : number is NativeOption.MaxMessageSize ? sizeof(long)
            : sizeof(int));
        return isText && read.Split(": ") is [_, string bytes]
            ? Named(Encoding.UTF8.GetString(Convert.FromHexString(bytes)).TrimEnd('\0'), endpoints) : read;
    }

    public void Add(int socket, PeerEvent read) => _events[socket].Add(read);

    /// <summary>A line for each socket that has become ready for this, or is not any more.</summary>
    public IEnumerable<string> Look(NativePollEvents at)
    {
        for (int i = 0; i < sockets.Length; i++)
        {
            bool isReady = sockets[i] is { } socket && socket.IsReadyFor(at);
            if (_readiness[i].HasFlag(at) != isReady)
            {
                _readiness[i] ^= at;
                yield return string.Create(CultureInfo.InvariantCulture, $"S{i} is {(isReady ? "" : "not ")}ready: {at}");
            }
        }
    }

    /// <summary>A line for each connection, or listener, of each socket: in which order connections come up side by side is nobody's
    /// promise.</summary>
    public IEnumerable<string> Events(string[] endpoints) => _events.SelectMany((events, i) => events
        .GroupBy(static read => (read.LocalAddress, read.RemoteAddress))
        .Select(group => string.Create(CultureInfo.InvariantCulture,
            $"S{i} {Named(group.Key.LocalAddress, endpoints)} {Named(group.Key.RemoteAddress, endpoints)}: {string.Join(' ', group)}"))
        .Order(StringComparer.Ordinal));

    private static string Named(string endpoint, string[] endpoints)
    {
        int index = Array.IndexOf(endpoints, endpoint);
        return index < 0 ? OwnPart().Replace(endpoint, "${before}OWN") : string.Create(CultureInfo.InvariantCulture, $"e{index}");
    }

    // A port, or the name of a file.
    [GeneratedRegex("(?<before>:)[1-9][0-9]{3,4}|(?<before>zl-)[0-9a-f]{32}", RegexOptions.NonBacktracking | RegexOptions.ExplicitCapture)]
    private static partial Regex OwnPart();
}
