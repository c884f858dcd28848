using System.Buffers.Binary;
using System.Globalization;
using System.Text;
using Net.Zlink.Interop.Tests.Native;

namespace Net.Zlink.Interop.Tests.Differential;

/// <summary>A conversation of one of the seven ZMP sockets with raw peers that speak ZMP.</summary>
internal sealed class ZmpConversation : WireConversation
{
    private const int HeaderSize = 8;
    private const byte More = 0x01;
    private const byte Control = 0x02;

    private static readonly NativeSocketType[] s_types =
        [NativeSocketType.Pair, NativeSocketType.Pub, NativeSocketType.Sub, NativeSocketType.Dealer, NativeSocketType.Router,
            NativeSocketType.XPub, NativeSocketType.XSub];

    // Those at the beginning are no updates of subscriptions when they begin a message.
    private const int PlainTopics = 4;
    private static readonly string[] s_topics = ["", "a", "ab", "b", "\0", "\x01"];

    private readonly HashSet<byte>[] _held;
    private readonly string[] _ids;
    private int _counter;

    // A SUB is always read at once: natively it filters when it is read, ours when a message comes in too (docs/protocol.md, 15.5).
    private ZmpConversation(int seed, NativeSocketType type)
        : base(seed, type, mostPeers: type is NativeSocketType.Pair ? 1 : 3, mayConnect: true,
            isAlwaysReadAtOnce: type is NativeSocketType.Sub) =>
        (_held, _ids) = ([.. Enumerable.Range(0, Peers).Select(static _ => new HashSet<byte>())],
            [.. Enumerable.Range(0, Peers).Select(IdOf)]);

    protected override bool MayBreak => base.MayBreak && !TellsTopicsAnew;

    protected override bool ReopensAtOnce => TellsTopicsAnew;

    // Natively the next connection hears the topics that were held when the last one was lost, then each change; ours hears those that are
    // held when it comes. So no topic may change in between.
    private bool TellsTopicsAnew => Connects && Subscribes;

    private bool Subscribes => Type is NativeSocketType.Sub or NativeSocketType.XSub;

    private bool Publishes => Type is NativeSocketType.Pub or NativeSocketType.XPub;

    public static ZmpConversation Make(int seed)
    {
        var conversation = new ZmpConversation(seed, s_types[seed % s_types.Length]);
        conversation.Compose();
        return conversation;
    }

    /// <summary>A heartbeat that names its number, and the answer to it.</summary>
    public override (byte[] Question, byte[] Answer)? Ask(uint number) =>
        (Frame(Control, [2, 0, 0, 4, .. BigEndian(number)]), Frame(Control, [3, 4, .. BigEndian(number)]));

    /// <summary>Without the answers to heartbeats: natively one answer is for all that came while a write was under way.</summary>
    public override IEnumerable<string> Account(byte[] heard)
    {
        List<string> control = [];
        List<string> data = [];
        int at = 0;
        while (at < heard.Length)
        {
            int length = heard.Length - at < HeaderSize ? heard.Length - at
                : (int)Math.Min(heard.Length - at, HeaderSize + (long)BinaryPrimitives.ReadUInt32BigEndian(heard.AsSpan(at + 4)));
            string frame = Convert.ToHexStringLower(heard.AsSpan(at, length));
            at += length;
            bool isControl = frame.StartsWith("5a0102", StringComparison.Ordinal);
            if (!isControl || !frame.AsSpan(2 * HeaderSize).StartsWith("03", StringComparison.Ordinal))
            {
                (isControl ? control : data).Add(frame);
            }
        }

        // A control frame overtakes what waits to be sent, so only the order of each kind says something.
        return [.. control, .. data];
    }

    private static byte[] BigEndian(uint value)
    {
        byte[] bytes = new byte[sizeof(uint)];
        BinaryPrimitives.WriteUInt32BigEndian(bytes, value);
        return bytes;
    }

    private static byte[] Frame(byte flags, ReadOnlySpan<byte> body) => [0x5A, 1, flags, 0, .. BigEndian((uint)body.Length), .. body];

    protected override void MakeOptions()
    {
        int[] switches = Type switch
        {
            NativeSocketType.Router => [NativeOption.RouterMandatory, NativeOption.ProbeRouter],
            NativeSocketType.Dealer => [NativeOption.ProbeRouter],
            NativeSocketType.XPub => [NativeOption.XPubVerbose, NativeOption.XPubVerboser, NativeOption.InvertMatching,
                NativeOption.OnlyFirstSubscribe, NativeOption.XPubManual, NativeOption.XPubNoDrop],
            NativeSocketType.Pub => [NativeOption.InvertMatching, NativeOption.XPubNoDrop],
            NativeSocketType.Sub => [NativeOption.InvertMatching],
            _ => [],
        };
        foreach (int number in switches.Append(NativeOption.ZmpMetadata))
        {
            if (Random.Next(4) == 0)
            {
                SetOption(number);
            }
        }

        for (int i = 0; i < Peers && Connects && Type is NativeSocketType.Router; i++)
        {
            // Of this connect alone, should it leave and come back.
            Aliases[i] = Random.Next(3) == 0 ? Encoding.ASCII.GetBytes(AliasOf(i)) : null;
        }

        if (Publishes && Random.Next(4) == 0)
        {
            WelcomeMessage = "hello"u8.ToArray();
        }
    }

    protected override void MakeApplicationStep()
    {
        if (Random.Next(7) == 0)
        {
            AppCall();
        }
        else
        {
            AppSend();
        }
    }

    private void AppSend()
    {
        byte[][] parts = Parts(letter: 's');
        if (Type is NativeSocketType.Router)
        {
            int peer = Random.Next(Peers);
            string id = Random.Next(8) switch
            {
                0 => "nobody",
                1 => IdOf(peer),
                < 5 when Aliases[peer] is not null => AliasOf(peer),
                _ => _ids[peer],
            };
            parts = [Encoding.ASCII.GetBytes(id), .. parts];
        }

        if (Subscribes)
        {
            AppCall();
        }
        else
        {
            Add(new WireStep.Send(parts));
        }
    }

    private void AppCall()
    {
        if (Subscribes || Options.Contains((NativeOption.XPubManual, 1)))
        {
            byte[] topic = Topic();
            string text = Convert.ToHexStringLower(topic);
            // Natively a topic that begins with 01 is not cancelled: the rest of it is subscribed to.
            Add(Random.Next(3) == 0 && topic is not [1, ..]
                ? new WireStep.Call($"unsubscribes {text}", socket => socket.Unsubscribe(topic))
                : new WireStep.Call($"subscribes {text}", socket => socket.Subscribe(topic)));
        }
    }

    private static string IdOf(int peer) => "P" + peer;

    private static string AliasOf(int peer) => "A" + peer;

    protected override bool Greet(int peer, out byte[] bytes)
    {
        _held[peer].Clear();
        if (Random.Next(6) == 0 && !(Connects && Type is NativeSocketType.Router))
        {
            // From now on. A native ROUTER that connects keeps the id that it heard first (docs/protocol.md 15.5).
            _ids[peer] = string.Create(CultureInfo.InvariantCulture, $"Q{peer}-{_counter++}");
        }

        byte[] hello = Hello(peer);
        byte[] ready = Ready();
        bool isDamaged = MayBreak && !IsOverTls && Random.Next(12) == 0;
        if (isDamaged)
        {
            byte[] whole = [.. ready];
            DamageFrame(Random.Next(2) == 0 ? hello : ready);
            if (Connects && BinaryPrimitives.ReadUInt32BigEndian(ready.AsSpan(sizeof(uint))) > ready.Length - HeaderSize)
            {
                // Natively who connects again, and has a HELLO but no READY, sends what the application sends at that moment, against
                // wire.md, 4.
                whole.CopyTo(ready, 0);
            }
        }

        bytes = [.. hello, .. ready];
        return !isDamaged;
    }

    private byte[] Hello(int peer)
    {
        byte[] types = Type switch
        {
            NativeSocketType.Pair => [0],
            NativeSocketType.Pub or NativeSocketType.XPub => [2, 10],
            NativeSocketType.Sub or NativeSocketType.XSub => [1, 9],
            _ => [5, 6],
        };
        byte type = Random.Next(20) == 0 ? (byte)Random.Next(12) : types[Random.Next(types.Length)];
        byte[] id = Encoding.ASCII.GetBytes(_ids[peer]);
        return Frame(Control, [1, type, (byte)id.Length, .. id]);
    }

    private byte[] Ready()
    {
        if (Random.Next(3) != 0)
        {
            return Frame(Control, [4]);
        }

        return Frame(Control, [4, 1, (byte)'n', .. BigEndian(2), (byte)'v', (byte)'w']);
    }

    private void DamageFrame(byte[] frame)
    {
        byte[] whole = [.. frame];
        Damage(frame);
        // Natively what becomes of it depends on what came before it.
        bool hasEmptyControl = frame.AsSpan().IndexOf(Frame(Control, [])) >= 0;
        bool hasNoValue = frame.AsSpan(HeaderSize) is [4, 3, ..]; // A property that ends behind its value's length: natively that is one.
        if (hasEmptyControl || hasNoValue)
        {
            whole.CopyTo(frame, 0);
        }
    }

    protected override bool Speak(int peer, out byte[] bytes)
    {
        var said = new List<byte>();
        int messages = 1 + Random.Next(3);
        for (int i = 0; i < messages; i++)
        {
            said.AddRange(Random.Next(12) switch
            {
                < 5 => Message(Parts((char)('0' + peer))),
                < 8 => Subscription(peer),
                8 => Frame((byte)(Random.Next(2) == 0 ? 4 : 5), Topic()),
                9 when MayBreak => Odd(),
                10 => Frame(Control, [3, 2, 7, 7]),
                _ => Frame(Control, Random.Next(3) == 0 ? [2] : [2, 0, 0, 1, (byte)Random.Next(256)]),
            });
        }

        bytes = [.. said];
        if (MayBreak && Random.Next(25) == 0)
        {
            DamageFrame(bytes);
            return false;
        }

        if (MayBreak && Random.Next(25) == 0)
        {
            bytes = bytes[..(1 + Random.Next(bytes.Length - 1))];
            return false;
        }

        return true;
    }

    private byte[] Subscription(int peer)
    {
        // What a peer never asked for it does not cancel: natively the application is told that nobody wants it any more, though others do.
        byte index = (byte)Random.Next(s_topics.Length);
        byte[] topic = Encoding.ASCII.GetBytes(s_topics[index]);
        bool subscribes = !_held[peer].Contains(index) || Random.Next(2) == 0;
        if (subscribes)
        {
            _held[peer].Add(index);
        }
        else
        {
            _held[peer].Remove(index);
        }

        return Random.Next(2) == 0 ? Frame((byte)(subscribes ? 0x08 : 0x10), topic) : Frame(0, [(byte)(subscribes ? 1 : 0), .. topic]);
    }

    private byte[] Odd() => Random.Next(8) switch
    {
        0 => Frame(Control, [4]),
        1 => Frame(Control, [1, 5, 0]),
        2 => Frame(Control, [(byte)(6 + Random.Next(250))]),
        // Who connected goes on after 06 and 7F, natively it does not.
        3 => Frame(Control, [5, (byte)(Connects ? 1 + Random.Next(5) : Random.Next(256)), 1, (byte)'x']),
        4 => Frame(Control, [5, 1]),
        5 => Frame(Control, [2, 0, 0, 17]),
        6 => Frame(Control, [3]),
        _ => Frame((byte)Random.Next(256), Topic()),
    };

    private byte[][] Parts(char letter)
    {
        // A topic in a message that a cut leaves unfinished counts with us, natively it does not: publishers get several parts where
        // nothing is cut.
        byte[][] parts = new byte[Random.Next(3) == 0 && (!Publishes || letter == 's' || !IsReadAtOnce) ? 1 + Random.Next(3) : 1][];

        // Our XSUB sends no topics in a message of several parts (docs/protocol.md, 15.5).
        int topics = parts.Length > 1 && Type is NativeSocketType.XSub ? PlainTopics : s_topics.Length;
        for (int i = 0; i < parts.Length; i++)
        {
            string text = string.Create(CultureInfo.InvariantCulture,
                $"{(Publishes || Subscribes ? s_topics[Random.Next(topics)] : "")}{letter}{_counter++}");
            parts[i] = Random.Next(10) switch
            {
                0 => [],
                1 => Encoding.ASCII.GetBytes(text + new string('x', 300)),
                _ => Encoding.ASCII.GetBytes(text),
            };
        }

        return parts;
    }

    private static byte[] Message(byte[][] parts) => [.. parts.SelectMany((part, i) => Frame(i + 1 < parts.Length ? More : (byte)0, part))];

    private byte[] Topic() => Encoding.ASCII.GetBytes(s_topics[Random.Next(s_topics.Length)]);
}
