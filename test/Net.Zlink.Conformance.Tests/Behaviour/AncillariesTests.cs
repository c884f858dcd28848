using Net.Zlink.Porting;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native test_ancillaries: every error has a name and a text.</summary>
public sealed class AncillariesTests
{
    [Fact]
    public void Every_error_has_a_name_and_an_exception_of_it_says_what_happened()
    {
        foreach (ZlinkError error in Enum.GetValues<ZlinkError>().Where(static e => e != ZlinkError.None))
        {
            Assert.StartsWith("E", error.ToNativeName(), StringComparison.Ordinal);
            var exception = new ZlinkException(error, "what happened");
            Assert.Equal($"what happened ({error})", exception.Message);
            Assert.Equal(error, exception.Error);
        }

        IEnumerable<int> numbers = Enum.GetValues<ZlinkError>().Select(static error => error.ToNativeNumber());
        Assert.Equal(Enum.GetValues<ZlinkError>().Length, numbers.Distinct().Count());
    }
}
