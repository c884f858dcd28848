using System.Text;
using FsCheck;
using FsCheck.Fluent;
using Net.Zlink.Transports;
using Net.Zlink.Transports.Ipc;
using Xunit;

namespace Net.Zlink.Tests.Transports.Ipc;

public sealed class IpcAddressTests
{
    private const string Ok = nameof(ZlinkError.None);
    private const string Invalid = nameof(ZlinkError.InvalidArgument);
    private const string TooLong = nameof(ZlinkError.NameTooLong);

    // text after "://", what bind says, what connect says
    public static TheoryData<string, string, string> Table => new()
    {
        { "/tmp/a.sock", Ok, Ok },
        { "a.sock", Ok, Ok },
        { "./a", Ok, Ok },
        { "../with blank", Ok, Ok },
        { "ünïcode", Ok, Ok },
        { "*", Ok, Invalid },
        { "./*", Ok, Ok },
        { "**", Ok, Ok },
        { "@name", Ok, Ok },
        { "@*", Ok, Ok },
        { "@@", Ok, Ok },
        { "@", Invalid, Invalid },
        { "a\0b", Invalid, Invalid },
        { "\0name", Invalid, Invalid },
        { "@a\0", Invalid, Invalid },
        { new string('x', 107), Ok, Ok },
        { new string('x', 108), TooLong, TooLong },
        { $"@{new string('x', 106)}", Ok, Ok },
        { $"@{new string('x', 107)}", TooLong, TooLong },
        { new string('ü', 53), Ok, Ok },
        { new string('ü', 54), TooLong, TooLong }, // bytes count, not characters
        { new string('x', 1_000_000), TooLong, TooLong },
    };

    [Theory]
    [MemberData(nameof(Table))]
    public void Nonsense_is_told_from_sense_without_touching_a_file(string text, string bind, string connect)
    {
        EndpointError bindError = IpcAddress.Check(text, EndpointUse.Bind);
        EndpointError connectError = IpcAddress.Check(text, EndpointUse.Connect);
        Assert.Equal((bind, connect), (bindError.Code.ToString(), connectError.Code.ToString()));
        Assert.Equal(bindError.Code != ZlinkError.None, TcpTest.IsOneLine(bindError.Sentence));
        Assert.Equal(connectError.Code != ZlinkError.None, TcpTest.IsOneLine(connectError.Sentence));
    }

    [Fact]
    public void Any_text_is_an_address_that_the_system_could_take_or_gets_one_sentence() =>
        Prop.ForAll<NonEmptyString>(static text =>
        {
            EndpointError error = IpcAddress.Check(text.Get, EndpointUse.Connect);
            return error.Code != ZlinkError.None ? TcpTest.IsOneLine(error.Sentence)
                : Encoding.UTF8.GetByteCount(text.Get) <= IpcAddress.LongestText
                && (!OperatingSystem.IsLinux() || new IpcAddress(text.Get).ToEndPoint() is not null);
        }).Check(Config.QuickThrowOnFailure.WithMaxTest(1_000));

    [Fact]
    public void Both_wildcard_and_longest_name_say_what_to_do()
    {
        EndpointError error = IpcAddress.Check("*", EndpointUse.Connect);
        Assert.Equal("* is for bind only; connect to the endpoint that bind returned", error.Sentence);
        error = IpcAddress.Check(new string('x', 108), EndpointUse.Bind);
        Assert.Contains("is 108 bytes long, and the system takes 107 at most", error.Sentence, StringComparison.Ordinal);
        Assert.Equal(36, error.Errno);
    }
}
