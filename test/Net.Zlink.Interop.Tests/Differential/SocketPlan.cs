using System.Globalization;
using System.Text;
using Net.Zlink.Interop.Tests.Native;
using Net.Zlink.Interop.Tests.Support;

namespace Net.Zlink.Interop.Tests.Differential;

/// <summary>An application with some sockets: their types and options, and what it does with them.</summary>
internal abstract class SocketPlan
{
    private static readonly string[] s_topics = ["", "a", "ab", "b"];

    private readonly List<SocketStep> _steps = [];

    protected SocketPlan(int seed) => Random = new Random(seed);

    /// <summary>Each socket receives whatever there is after each step. Else it does so now and then, and none leaves: natively one that
    /// has left keeps its place until all that it sent is read.</summary>
    public bool IsReadAtOnce { get; protected set; }

    /// <summary>What each socket is ready for, and what its monitor tells, is written down too.</summary>
    public virtual bool IsWatched => false;

    public bool HasImmediate => Options.Any(static options => options.Contains((NativeOption.Immediate, 1)))
        || _steps.Exists(static step => step is { Action: SocketAction.Set, Number: NativeOption.Immediate });

    /// <summary>What carries the bytes of each endpoint.</summary>
    public TestTransport[] Endpoints { get; protected set; } = [];

    public NativeSocketType[] Types { get; protected set; } = [];

    /// <summary>Those that the sockets begin with.</summary>
    public string[] RoutingIds { get; protected set; } = [];

    public (int Number, int Value)[][] Options { get; protected set; } = [];

    public IReadOnlyList<SocketStep> Steps => _steps;

    protected Random Random { get; }

    public static bool Receives(NativeSocketType type) => type is not NativeSocketType.Pub;

    protected static string RoutingIdOf(int socket) => string.Create(CultureInfo.InvariantCulture, $"S{socket}");

    public override string ToString()
    {
        var text = new StringBuilder();
        text.AppendLine(
            CultureInfo.InvariantCulture, $"{string.Join(", ", Endpoints)}: {string.Join(", ", Types.Select((_, i) => TextOf(i)))}");
        foreach (SocketStep step in _steps)
        {
            text.AppendLine(step.ToString());
        }

        return text.ToString();
    }

    private string TextOf(int socket)
    {
        bool isPlain = string.Equals(RoutingIds[socket], RoutingIdOf(socket), StringComparison.Ordinal);
        string options = string.Join(' ', Options[socket].Select(option => $"{option.Number}={option.Value}"));
        return $"S{socket} {Types[socket]}{(isPlain ? "" : " as " + RoutingIds[socket])} [{options}]";
    }

    protected void Add(SocketStep step) => _steps.Add(step);

    /// <summary>The socket subscribes to a topic, or cancels it.</summary>
    protected void AddTopicChange(int socket)
    {
        byte[] topic = Encoding.ASCII.GetBytes(NextTopic());
        Add(new SocketStep(socket, Random.Next(3) == 0 ? SocketAction.Unsubscribe : SocketAction.Subscribe, Parts: [topic]));
    }

    protected string NextTopic() => s_topics[Random.Next(s_topics.Length)];

    /// <summary>What the socket's next message begins with: empty where that is of no matter.</summary>
    protected string TopicOf(int socket) => Types[socket] is NativeSocketType.Pub or NativeSocketType.XPub ? NextTopic() : "";
}
