using System.Globalization;
using System.Text;
using Net.Zlink.Interop.Tests.Native;
using Net.Zlink.Interop.Tests.Support;

namespace Net.Zlink.Interop.Tests.Differential;

/// <summary>A conversation made up from a number: a socket, its options, and what raw peers and the application do. Most of it is what
/// peers do, some of it is what none should.</summary>
internal abstract class WireConversation
{
    // Half of them over tcp, where most is seen. ws before wss, since what differs there is met sooner without TLS.
    private static readonly TestTransport[] s_transports =
        [TestTransport.Tcp, TestTransport.Tcp, TestTransport.Tcp, TestTransport.Tcp, TestTransport.Ws, TestTransport.Ws, TestTransport.Ipc,
            TestTransport.Tls, TestTransport.Wss];

    private readonly List<WireStep> _steps = [];
    private readonly List<(int Number, int Value)> _options = [];
    private readonly UserState[] _peers;
    private readonly WebSocketSpeech? _webSocket;

    protected WireConversation(int seed, NativeSocketType type, int mostPeers, bool mayConnect, bool isAlwaysReadAtOnce)
    {
        Random = new Random(seed);
        Type = type;
        Transport = s_transports[Random.Next(s_transports.Length)];
        _peers = new UserState[1 + Random.Next(mostPeers)];
        Aliases = new byte[]?[_peers.Length];
        Connects = mayConnect && Random.Next(3) == 0;
        IsReadAtOnce = isAlwaysReadAtOnce || Random.Next(4) != 0;
        _webSocket = Transport is TestTransport.Ws or TestTransport.Wss ? new WebSocketSpeech(Random, isClient: !Connects) : null;
    }

    /// <summary>Where a peer stands, as the one that makes the conversation up knows.</summary>
    protected enum UserState
    {
        Absent,
        Talking,

        /// <summary>It said what ends its connection, or half of something.</summary>
        Broken,
    }

    public NativeSocketType Type { get; }

    public TestTransport Transport { get; }

    public int Peers => _peers.Length;

    public IReadOnlyList<(int Number, int Value)> Options => _options;

    /// <summary>The socket connects to its peers; else they connect to it.</summary>
    public bool Connects { get; }

    /// <summary>The application receives whatever there is after each step. Else it does so now and then, and no peer leaves: natively one
    /// that has left keeps its place until all that it sent is read.</summary>
    public bool IsReadAtOnce { get; }

    /// <summary>What a ROUTER that connects calls its peers; null: what they call themselves.</summary>
    public byte[]?[] Aliases { get; }

    public byte[]? WelcomeMessage { get; protected set; }

    public IReadOnlyList<WireStep> Steps => _steps;

    protected Random Random { get; }

    /// <summary>A handshake comes whole and in one piece: natively one that comes in several is read on only by chance (docs/protocol.md,
    /// 18.1).</summary>
    protected bool IsOverTls => Transport is TestTransport.Tls or TestTransport.Wss;

    /// <summary>Peers may say what none should, and leave in the middle.</summary>
    protected virtual bool MayBreak => IsReadAtOnce;

    /// <summary>What a peer asks to know that all before has been read, and the answer; null: there is nothing of the kind.</summary>
    public abstract (byte[] Question, byte[] Answer)? Ask(uint number);

    /// <summary>What a peer was told, a line for each frame.</summary>
    public abstract IEnumerable<string> Account(byte[] heard);

    public override string ToString()
    {
        var text = new StringBuilder();
        string options = string.Join(' ', _options.Select(option => $"{option.Number}={option.Value}"));
        IEnumerable<string> aliases = Aliases.Select(static alias => alias is null ? "" : ", alias " + Encoding.ASCII.GetString(alias));
        text.AppendLine(CultureInfo.InvariantCulture,
            $"{Type} {(Connects ? "connects" : "binds")} over {Transport}, options {options}"
            + $"{(WelcomeMessage is null ? "" : ", welcome message")}{string.Concat(aliases)}");
        foreach (WireStep step in _steps)
        {
            text.AppendLine(step.ToString());
        }

        return text.ToString();
    }

    /// <summary>Makes it up.</summary>
    protected void Compose()
    {
        MakeOptions();
        for (int i = 0; i < _peers.Length; i++)
        {
            Open(i);
        }

        int steps = 4 + Random.Next(14);
        for (int i = 0; i < steps; i++)
        {
            MakeStep();
        }

        Add(new WireStep.Receive());
    }

    protected abstract void MakeOptions();

    /// <summary>What the application does next.</summary>
    protected abstract void MakeApplicationStep();

    /// <summary>What a peer says when its connection is there. False: it will not be understood any more.</summary>
    protected abstract bool Greet(int peer, out byte[] bytes);

    /// <summary>What a peer that is understood says next. False: from then on it will not be.</summary>
    protected abstract bool Speak(int peer, out byte[] bytes);

    protected void Add(WireStep step) => _steps.Add(step);

    protected void SetOption(int number) => _options.Add((number, 1));

    /// <summary>One byte of it is another, perhaps.</summary>
    protected void Damage(byte[] bytes)
    {
        int at = Random.Next(bytes.Length);
        bytes[at] = (byte)(Random.Next(2) == 0 ? bytes[at] ^ (1 << Random.Next(8)) : Random.Next(256));
    }

    /// <summary>After an end without which the conversation can't go on as it must.</summary>
    protected virtual bool ReopensAtOnce => false;

    private void MakeStep()
    {
        int peer = Random.Next(_peers.Length);
        switch (Random.Next(20))
        {
            case < 7:
                MakeApplicationStep();
                break;
            case 7 or 8:
                Add(new WireStep.Receive());
                break;
            case 9 when IsReadAtOnce && _peers[peer] != UserState.Absent:
                Add(new WireStep.End(peer, Random.Next(2) == 0));
                _peers[peer] = UserState.Absent;
                if (ReopensAtOnce)
                {
                    Open(peer);
                }

                break;
            case 10 when MayBreak && _peers[peer] == UserState.Talking && Random.Next(2) == 0:
                // Natively an endpoint that is left ends its connections.
                Add(new WireStep.Anew(peer));
                for (int i = 0; i < _peers.Length; i++)
                {
                    _peers[i] = (i == peer || !Connects) && _peers[i] == UserState.Talking ? UserState.Broken : _peers[i];
                }

                break;
            default:
                MakePeerStep(peer);
                break;
        }
    }

    private void MakePeerStep(int peer)
    {
        if (_peers[peer] != UserState.Talking)
        {
            if (_peers[peer] == UserState.Broken)
            {
                Add(new WireStep.End(peer, Resets: false));
            }

            Open(peer);
        }
        else if (_webSocket is not null && Random.Next(4) == 0)
        {
            SpeakWebSocket(peer, _webSocket);
        }
        else
        {
            bool isUnderstood = Speak(peer, out byte[] bytes);
            Write(peer, bytes, isUnderstood);
        }
    }

    private void Open(int peer)
    {
        if (_webSocket is not null && MayBreak && Random.Next(12) == 0)
        {
            Add(new WireStep.Open(peer, _webSocket.BadHead()));
            _peers[peer] = UserState.Broken;
            return;
        }

        Add(new WireStep.Open(peer, _webSocket?.Head() ?? ""));
        _peers[peer] = UserState.Talking;
        bool isUnderstood = Greet(peer, out byte[] bytes);
        if (bytes.Length > 0)
        {
            Write(peer, bytes, isUnderstood, isInOne: IsOverTls);
        }
    }

    private void SpeakWebSocket(int peer, WebSocketSpeech speech)
    {
        bool breaks = MayBreak && Random.Next(4) == 0;
        (string what, byte[] frame) = !breaks ? speech.Harmless() : Random.Next(2) == 0 ? speech.Close() : speech.Forbidden();
        if (breaks)
        {
            _peers[peer] = UserState.Broken;
        }

        Add(new WireStep.WriteFrame(peer, what, frame, Answers: !breaks));
    }

    private void Write(int peer, byte[] bytes, bool isUnderstood, bool isInOne = false)
    {
        int[] pieces = new int[!isInOne && Random.Next(4) == 0 ? 1 + Random.Next(4) : 0];
        for (int i = 0; i < pieces.Length; i++)
        {
            pieces[i] = 1 + Random.Next(bytes.Length);
        }

        if (!isUnderstood)
        {
            _peers[peer] = UserState.Broken;
        }

        Add(new WireStep.Write(peer, bytes, pieces, isUnderstood, isInOne ? WebSocketTalk.WrapInOne : Random.Next()));
    }
}
