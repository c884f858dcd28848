using System.Globalization;

namespace Net.Zlink.Protocol.Zmp;

/// <summary>The socket types that speak ZMP, by the number in a HELLO (docs/protocol.md section 10).</summary>
internal enum ZmpSocketType : byte
{
    Pair = 0,
    Pub = 1,
    Sub = 2,
    Dealer = 5,
    Router = 6,
    XPub = 9,
    XSub = 10,
}

/// <summary>What the wire needs to know of a socket type.</summary>
internal static class ZmpSocketTypeExtensions
{
    // Sets of type numbers, one bit each.
    private const uint Pairs = 1u << (int)ZmpSocketType.Pair;
    private const uint Publishers = (1u << (int)ZmpSocketType.Pub) | (1u << (int)ZmpSocketType.XPub);
    private const uint Subscribers = (1u << (int)ZmpSocketType.Sub) | (1u << (int)ZmpSocketType.XSub);
    private const uint Requesters = (1u << (int)ZmpSocketType.Dealer) | (1u << (int)ZmpSocketType.Router);

    /// <summary>The type that a HELLO's byte stands for, for people: any byte.</summary>
    public static string NameOf(byte type) => Enum.IsDefined((ZmpSocketType)type) ? ((ZmpSocketType)type).Name : string.Create(CultureInfo.InvariantCulture, $"type {type}");

    extension(ZmpSocketType type)
    {
        /// <summary>The name that READY metadata carries.</summary>
        public string Name => type switch
        {
            ZmpSocketType.Pair => "PAIR",
            ZmpSocketType.Pub => "PUB",
            ZmpSocketType.Sub => "SUB",
            ZmpSocketType.Dealer => "DEALER",
            ZmpSocketType.Router => "ROUTER",
            ZmpSocketType.XPub => "XPUB",
            ZmpSocketType.XSub => "XSUB",
            _ => throw new ArgumentOutOfRangeException(nameof(type), type, message: null),
        };

        /// <summary>The types that this one talks to, for people.</summary>
        public string Partners => type switch
        {
            ZmpSocketType.Pair => "PAIR",
            ZmpSocketType.Pub or ZmpSocketType.XPub => "SUB and XSUB",
            ZmpSocketType.Sub or ZmpSocketType.XSub => "PUB and XPUB",
            _ => "DEALER and ROUTER",
        };

        /// <summary>Whether READY metadata of this type carries its routing id too.</summary>
        public bool AnnouncesIdentity => type is ZmpSocketType.Dealer or ZmpSocketType.Router;

        /// <summary>Whether a peer whose HELLO has this type byte, whatever it is, may talk to this type.</summary>
        public bool MayTalkTo(byte peer)
        {
            uint welcome = type switch
            {
                ZmpSocketType.Pair => Pairs,
                ZmpSocketType.Pub or ZmpSocketType.XPub => Subscribers,
                ZmpSocketType.Sub or ZmpSocketType.XSub => Publishers,
                ZmpSocketType.Dealer or ZmpSocketType.Router => Requesters,
                _ => 0,
            };

            // A shift takes its count modulo 32: larger numbers must not get that far.
            return peer <= (byte)ZmpSocketType.XSub && ((welcome >> peer) & 1) != 0;
        }
    }
}
